/** The title of a rule is the subject of a message, and the name of an alert on a page. */
import { expect, test } from 'vitest';
import { RULES } from '../../../src/alerts/domain/alert.ts';
import { ruleTitle } from '../../../src/alerts/domain/ruleTitles.ts';

const titles = () => RULES.map(ruleTitle);

test('each rule has a title of its own, written as the beginning of a sentence', () => {
  for (const title of titles()) expect(title).toMatch(/^[A-Z][a-z' ]+[a-z]$/);
  expect(new Set(titles()).size).toBe(RULES.length);
});

test('a title fits into the subject of a mail with an amount and an order', () => {
  for (const title of titles()) expect(title.length).toBeLessThanOrEqual(50);
});

test.each([
  ['brand_new_rule', 'brand new rule'],
  ['toString', 'toString'],
])('the rule %s of another version is named by its own name: %s', (rule, title) => {
  expect(ruleTitle(rule)).toBe(title);
});
