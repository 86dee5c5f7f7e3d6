/** Evidence as people give it. Numbers are the rules of src/disputes/domain/evidence.ts. */
import { describe, expect, test } from 'vitest';
import { EVIDENCE_FILE_FIELDS } from '../../../src/contract/requests/evidence.ts';
import {
  changedFields,
  contentTypeOf,
  EVIDENCE_FIELDS,
  evidenceOf,
  isFileField,
  MAX_FILE_BYTES,
} from '../../../src/disputes/domain/evidence.ts';

const [FILE] = EVIDENCE_FILE_FIELDS;
const [FIRST, SECOND] = EVIDENCE_FIELDS.filter((field) => !isFileField(field));

test('each field is a text or a file, and there are both', () => {
  const files = EVIDENCE_FIELDS.filter(isFileField);
  expect(files.toSorted()).toEqual([...EVIDENCE_FILE_FIELDS].sort());
  expect(files.length).toBeLessThan(EVIDENCE_FIELDS.length);
});

describe('what the service has (rule 1)', () => {
  test('fields are found in any group, also in one that the contract does not name', () => {
    const groups = { new_group: { [`${FIRST}`]: 'a' }, other: { [`${SECOND}`]: 'b' } };
    expect(evidenceOf(groups)).toEqual({ [`${FIRST}`]: 'a', [`${SECOND}`]: 'b' });
  });

  test('unknown fields, empty ones and those that are no text are left out', () => {
    const group = { unknown: 'a', [`${FIRST}`]: '', [`${SECOND}`]: 7, [`${FILE}`]: null };
    expect(evidenceOf({ group, empty: null })).toEqual({});
  });
});

test('only fields that differ are sent, and an empty one only if it was not empty', () => {
  const before = { [`${FIRST}`]: 'a' };
  expect(changedFields(before, { [`${FIRST}`]: 'a', [`${SECOND}`]: '' })).toEqual({});
  expect(changedFields(before, { [`${FIRST}`]: '', [`${SECOND}`]: 'b' })).toEqual({
    [`${FIRST}`]: '',
    [`${SECOND}`]: 'b',
  });
});

test('a form that sends another line break than it was given changes nothing (rule 3)', () => {
  const before = { [`${FIRST}`]: 'one\r\ntwo', [`${SECOND}`]: 'one\ntwo' };
  const sent = { [`${FIRST}`]: 'one\ntwo', [`${SECOND}`]: 'one\r\ntwo' };
  expect(changedFields(before, sent)).toEqual({});
  const added = { [`${FIRST}`]: 'one\n\ntwo' };
  expect(changedFields(before, added)).toEqual(added);
});

describe('a file (rule 2)', () => {
  test.each([
    ['%PDF-1.7', 'application/pdf'],
    ['\u00ff\u00d8\u00ff\u00e0', 'image/jpeg'],
    ['\u0089PNG\r\n\u001a\n....', 'image/png'],
    ['%PDF', undefined],
    ['\u0089PNG\n', undefined],
    ['<svg>', undefined],
    ['', undefined],
  ])('%j is %s by its first bytes', (content, type) => {
    expect(contentTypeOf(Buffer.from(content, 'latin1'))).toBe(type);
  });

  test('has at most 4 MiB', () => {
    expect(MAX_FILE_BYTES).toBe(4_194_304);
  });
});
