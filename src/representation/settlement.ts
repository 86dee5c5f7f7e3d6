/** Imported files, their lines, and what is in clearing, as JSON. */
import { toSafeInteger } from '../contract/money.ts';
import {
  CLEARING_PARTS,
  type ClearingItem,
  type CurrencyClearing,
} from '../ledger/domain/clearing.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { ImportedFileRow, ListedLine } from '../ledger/read/store/settlement.ts';

export function importedFileJson(file: ImportedFileRow) {
  return {
    file: file.id,
    source: file.source,
    format: file.format,
    name: file.name,
    digest: file.digest,
    lines: file.lines,
    new_lines: file.newLines,
    ignored: file.ignored,
    unmatched: file.unmatched,
    imported_at: formatInstant(file.importedMicros),
    imported_by: file.importedBy,
  };
}

export function listedLineJson(line: ListedLine) {
  const { targetKind, rule, reason } = line;
  return {
    line: line.id,
    file: line.file,
    file_line: line.fileLine,
    type: line.type,
    settlement: line.settlement,
    settlement_number: line.settlementId,
    reference: line.reference,
    line_reference: line.lineReference,
    day: line.day,
    currency: line.currency,
    amount_gross: line.grossMinor,
    amount_fee: line.feeMinor,
    text: line.text,
    match:
      targetKind === null || rule === null || reason === null
        ? null
        : {
            target: line.targetId === null ? targetKind : `${targetKind}:${line.targetId}`,
            rule,
            reason,
            written_off: line.writtenOffMinor ?? 0,
            matched_by: line.matchedBy,
            matched_at: line.matchedMicros === null ? null : formatInstant(line.matchedMicros),
          },
  };
}

export function clearingJson({ currency, balanceMinor, parts }: CurrencyClearing) {
  return {
    currency,
    balance: toSafeInteger(balanceMinor),
    parts: parts.map(({ part, items, amountMinor, sinceMicros }) => ({
      part,
      meaning: CLEARING_PARTS[part],
      items,
      amount: toSafeInteger(amountMinor),
      since: formatInstant(sinceMicros),
    })),
  };
}

export function clearingItemJson(item: ClearingItem) {
  return {
    part: item.part,
    subject: item.subject,
    reference: item.reference,
    currency: item.currency,
    amount: toSafeInteger(item.amountMinor),
    since: formatInstant(item.sinceMicros),
  };
}
