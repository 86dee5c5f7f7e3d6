import { expect, test } from 'vitest';
import { findBannedUses, isExempt, readBannedWords } from '../../../scripts/words/bannedWords.ts';

const LIST = readBannedWords(`
# A comment.
\\bwidgets?\\b -> gadget
\\bfar flung\\b -> remote
~ src/old/
~ docs/history.md
`);

test('a use is reported with its line, the word as written, and the word to use', () => {
  expect(findBannedUses('One gadget.\nTwo Widgets and a widget.', LIST)).toEqual([
    { line: 2, word: 'Widgets', use: 'gadget' },
    { line: 2, word: 'widget', use: 'gadget' },
  ]);
});

test('names are read word by word', () => {
  const words = (text: string) => findBannedUses(text, LIST).map(({ word }) => word);
  expect(words('createWidget(); const WIDGET_COUNT = 1;')).toEqual(['Widget', 'WIDGET']);
  expect(words('select far_flung from t; farFlung();')).toEqual(['far flung', 'far Flung']);
  expect(words('widgetry')).toEqual([]);
});

test('an exemption covers a file, or a folder and all below it, and no more', () => {
  const exempt = (path: string) => isExempt(path, LIST);
  expect(['src/old/a.ts', 'src/old/deep/b.ts', 'docs/history.md'].map(exempt)).not.toContain(false);
  expect(['src/older/a.ts', 'docs/history.md.ts', 'src/a.ts'].map(exempt)).not.toContain(true);
});

test('a line that is neither ban, exemption nor comment is an error', () => {
  expect(() => readBannedWords('widget gadget')).toThrow('PATTERN -> WHAT TO USE');
});
