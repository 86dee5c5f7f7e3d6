/**
 * What is left of a resource's content when personal data is erased from it.
 *
 * 1. Texts of banks, acquirers and customers (`errorMessage`, `reason`) are replaced as a whole: a name in
 *    them has no form by which it could be found. Codes and messages of a closed set lose found values only.
 * 2. Erasing commutes with the fold: the state of erased snapshots is the erased state of the snapshots.
 *    So money and status do not change, and `verify` still derives each row.
 */
import { inHashOrder, type SnapshotContent } from './snapshot.ts';

/** What is left in the place of a text. */
export const ERASED_TEXT = '[erased]';

/** The texts of a content, and of the row of a resource. */
export interface ErasableTexts {
  readonly unifiedCode?: string | undefined;
  readonly unifiedMessage?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly reason?: string | undefined;
  readonly reasonCode?: string | undefined;
}

/** @param eraseValues removes the values of the person from a text */
export function eraseTexts<Texts extends ErasableTexts>(
  texts: Texts,
  eraseValues: (text: string) => string,
): Texts {
  const erased = (text: string | undefined) => (text === undefined ? text : eraseValues(text));
  const replaced = (text: string | undefined) => (text === undefined ? text : ERASED_TEXT);
  return {
    ...texts,
    unifiedCode: erased(texts.unifiedCode),
    unifiedMessage: erased(texts.unifiedMessage),
    errorCode: erased(texts.errorCode),
    errorMessage: replaced(texts.errorMessage),
    reason: replaced(texts.reason),
    reasonCode: erased(texts.reasonCode),
  };
}

/** A content without personal data, or undefined if it has none. */
export function eraseContent(
  content: SnapshotContent,
  eraseValues: (text: string) => string,
): SnapshotContent | undefined {
  const before = inHashOrder(content);
  const after = inHashOrder(eraseTexts(before, eraseValues) as SnapshotContent);
  return JSON.stringify(after) === JSON.stringify(before) ? undefined : after;
}
