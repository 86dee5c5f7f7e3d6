/** Pages in a package: each link leads to a file of the package, or is gone. */
import { expect, test } from 'vitest';
import { packLinks } from '../../../scripts/pack/links.ts';

const FILES = { 'CHANGELOG.md': 'docs/CHANGELOG.md', bin: 'bin', 'docs/guides': 'docs/guides' };
const convert = (text: string, source = 'docs/CHANGELOG.md', target = 'CHANGELOG.md') =>
  packLinks(text, { source, target, files: FILES });

test.each([
  ['[a](guides/access.md#use-it)', '[a](docs/guides/access.md#use-it)'],
  ['([record 99](decisions/0099-packages.md))', '(record 99)'],
  ['[`verify`](reference/commands.md), [b](guides/)', '`verify`, [b](docs/guides)'],
  ['![a screen](pictures/orders.png)', 'a screen'],
  ['[a](https://example.com/x), [b](#added)', '[a](https://example.com/x), [b](#added)'],
  ['`rows[0](all)`', '`rows[0](all)`'],
  [
    '- a\n  ```ts\n  rows[0](all);\n  ```\n- [b](x.md)',
    '- a\n  ```ts\n  rows[0](all);\n  ```\n- b',
  ],
])('%j becomes %j', (text, expected) => {
  expect(convert(text)).toBe(expected);
});

test('a page of a packed folder links to what lies elsewhere in the package', () => {
  const text = '[a](../CHANGELOG.md), [b](access.md), [c](../../bin/tallyhook.js), [d](../faq.md)';
  expect(convert(text, 'docs/guides/client.md', 'docs/guides/client.md')).toBe(
    '[a](../../CHANGELOG.md), [b](access.md), [c](../../bin/tallyhook.js), d',
  );
});
