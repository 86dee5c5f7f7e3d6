/**
 * Evidence as people give it.
 *
 * 1. The service returns evidence by group, and the set of groups is open: fields are found by their name
 *    in any group.
 * 2. A file is a PDF, JPEG or PNG by its first bytes, regardless of its name. The contract names no
 *    content types; these are the ones that banks accept.
 * 3. A line break of one character equals one of two: what a form sends does not show which one it was given.
 */
import {
  EVIDENCE_FILE_FIELDS,
  EVIDENCE_GROUPS,
  type EvidenceField,
} from '../../contract/requests/evidence.ts';

/** Larger files are refused before they are sent; the contract names no limit. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;

export const EVIDENCE_FIELDS: readonly EvidenceField[] = Object.values(EVIDENCE_GROUPS).flat();

export function isFileField(field: EvidenceField): boolean {
  return EVIDENCE_FILE_FIELDS.some((one) => one === field);
}

type Values = { readonly [Field in EvidenceField]?: string };

/** Rule 1. Values that are no text are left out. */
export function evidenceOf(
  groups: Readonly<Record<string, Readonly<Record<string, unknown>> | null | undefined>>,
): Values {
  const all = Object.values(groups).flatMap((group) => Object.entries(group ?? {}));
  const known = new Set<string>(EVIDENCE_FIELDS);
  return Object.fromEntries(
    all.filter(([name, value]) => known.has(name) && typeof value === 'string' && value !== ''),
  );
}

/** The fields that differ from what the service has (rule 3). */
export function changedFields(before: Values, wanted: Values): Values {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => linesOf(value) !== linesOf(before[name as EvidenceField]),
    ),
  );
}

const linesOf = (text = ''): string => text.replaceAll('\r\n', '\n');

/** What became of evidence that somebody changed after the person read it: nothing was submitted. */
export interface Edited {
  readonly outcome: 'edited';
  /** The fields in which the service has something else than the person wants. */
  readonly fields: readonly {
    readonly name: string;
    readonly atService: string;
    readonly wanted: string;
  }[];
}

const SIGNATURES: readonly (readonly [type: string, bytes: readonly number[]])[] = [
  ['application/pdf', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
];

/** Rule 2. Undefined for any other content. */
export function contentTypeOf(content: Uint8Array): string | undefined {
  return SIGNATURES.find(([, bytes]) => bytes.every((byte, at) => content[at] === byte))?.[0];
}
