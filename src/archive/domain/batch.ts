/**
 * Names in an archive. A batch is what one step of retention removes: rows of one class, in files
 * ("parts"), and a manifest that lists them. docs/reference/archive-format.md has the format.
 *
 * 1. A name follows from the content: the same rows get the same names, however often they are archived,
 *    and different rows never replace each other.
 * 2. A batch exists once its manifest does. Parts without a manifest belong to an archiving that was
 *    interrupted.
 */

/** Digits of a digest that names carry. */
const DIGEST_DIGITS = 16;

const MANIFEST_ENDING = '.manifest.json';
const PART_ENDING = '.jsonl.gz';

/** What the name of a batch is made from. */
export interface BatchIdentity {
  readonly className: string;
  /** The least and the greatest key. */
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  /** SHA-256 of all lines, in hex. */
  readonly linesSha256: string;
}

/** Such as `messages/1-5000.5000.0f3a…`; what belongs to the batch has endings after it. */
function batchName({ className, first, last, rows, linesSha256 }: BatchIdentity): string {
  return `${className}/${first}-${last}.${rows}.${linesSha256.slice(0, DIGEST_DIGITS)}`;
}

export function manifestName(identity: BatchIdentity): string {
  return `${batchName(identity)}${MANIFEST_ENDING}`;
}

/** @param sha256 of the file, in hex */
export function partName(className: string, sha256: string): string {
  return `${className}/${sha256}${PART_ENDING}`;
}

/** Whether a name has the form that `partName` gives: a manifest must not name other files. */
export function isPartName(name: string, className: string): boolean {
  const start = `${className}/`;
  return name.startsWith(start) && /^[0-9a-f]{64}\.jsonl\.gz$/.test(name.slice(start.length));
}

/** Whether a name is that of a part, of any class. */
export function isAnyPartName(name: string): boolean {
  return isPartName(name, name.slice(0, name.indexOf('/')));
}

const MANIFEST_NAME =
  /^(?<className>[a-z_]+)\/(?<first>\d+)-(?<last>\d+)\.\d+\.[0-9a-f]{16}\.manifest\.json$/;

/** The class of a manifest's name; undefined for other names. */
export function classOfManifest(name: string): string | undefined {
  return MANIFEST_NAME.exec(name)?.groups?.className;
}

/** Whether the batch of a manifest's name may have keys in a range. */
export function mayHaveKeys(name: string, range: Pick<BatchIdentity, 'first' | 'last'>): boolean {
  const { first, last } = MANIFEST_NAME.exec(name)?.groups ?? {};
  return Number(first) <= range.last && Number(last) >= range.first;
}
