/** Names in an archive: a manifest names no other files, and a range of keys is not missed. */
import { describe, expect, test } from 'vitest';
import {
  classOfManifest,
  isAnyPartName,
  isPartName,
  manifestName,
  mayHaveKeys,
  partName,
} from '../../../src/archive/domain/batch.ts';

const SHA256 = '0123456789abcdef'.repeat(4);
const BATCH = { className: 'messages', first: 10, last: 20, rows: 5, linesSha256: SHA256 };
const MANIFEST = 'messages/10-20.5.0123456789abcdef.manifest.json';
const PART = `messages/${SHA256}.jsonl.gz`;

test('a name follows from the class, the keys, the number of rows and their digest', () => {
  expect(manifestName(BATCH)).toBe(MANIFEST);
  expect(partName('messages', SHA256)).toBe(PART);
});

test('a part is of the class of its manifest, and of none but it', () => {
  expect(isPartName(PART, 'messages')).toBe(true);
  expect(isAnyPartName(PART)).toBe(true);
  expect(isPartName(PART, 'bodies')).toBe(false);
  // As long as the name of the other class.
  expect(isPartName(PART, 'receipts')).toBe(false);
});

test.each([
  ['with something before its digest', `messages/../${SHA256}.jsonl.gz`],
  ['with something behind its ending', `${PART}.tmp`],
  ['without a class', `${SHA256}.jsonl.gz`],
  ['of a manifest', MANIFEST],
])('a name %s is not that of a part', (_, name) => {
  expect(isPartName(name, 'messages')).toBe(false);
  expect(isAnyPartName(name)).toBe(false);
});

describe('the name of a manifest', () => {
  test('has its class, and other names have none', () => {
    expect(classOfManifest(MANIFEST)).toBe('messages');
    expect(classOfManifest(PART)).toBeUndefined();
    expect(classOfManifest(`other/${MANIFEST}`)).toBeUndefined();
    expect(classOfManifest(`${MANIFEST}.tmp`)).toBeUndefined();
  });

  test('shows whether the batch may have keys in a range, both bounds included', () => {
    const hasKeys = (first: number, last: number) => mayHaveKeys(MANIFEST, { first, last });
    expect([hasKeys(1, 9), hasKeys(1, 10), hasKeys(12, 13)]).toEqual([false, true, true]);
    expect([hasKeys(20, 30), hasKeys(21, 30)]).toEqual([true, false]);
    expect(mayHaveKeys(PART, { first: 1, last: 30 })).toBe(false);
  });
});
