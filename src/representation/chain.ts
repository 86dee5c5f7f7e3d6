/** The chain head and the verification of the chain as JSON, and the reading of a published head. */
import { z } from 'zod';
import {
  formatHead,
  type PublishedHead,
  parseHead,
  type SealedBlock,
} from '../ledger/domain/chain.ts';
import { formatInstant, parseInstantMicros } from '../ledger/domain/time.ts';
import type { ChainReport, ComparedHead } from '../ledger/verify/verifyChain.ts';

/** What an auditor keeps: everything that the digest covers, so that the file proves itself. */
export function headJson(block: SealedBlock) {
  return {
    head: formatHead(block),
    block: block.number,
    form: block.form,
    previous_digest: block.previousDigest,
    after_id: block.afterId,
    through_id: block.throughId,
    transfers: block.transfers,
    total_transfers: block.totalTransfers,
    entries_digest: block.entriesDigest,
    history: block.history,
    chained_at: formatInstant(block.chainedMicros),
    digest: block.digest,
    public_key: block.publicKey,
    signature: block.signature,
  };
}

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const whole = z.int().min(0);
const headFile = z
  .object({
    block: z.int().min(1),
    form: whole,
    previous_digest: digest,
    after_id: whole,
    through_id: whole,
    transfers: whole,
    total_transfers: whole,
    entries_digest: digest,
    history: z.string(),
    chained_at: z.string(),
    digest,
    public_key: digest.nullable(),
    signature: z
      .string()
      .regex(/^[0-9a-f]{128}$/)
      .nullable(),
  })
  .transform((file, context): SealedBlock => {
    const chainedMicros = parseInstantMicros(file.chained_at);
    if (chainedMicros === undefined) {
      context.issues.push({ code: 'custom', message: 'no time', input: file.chained_at });
      return z.NEVER;
    }
    return {
      number: file.block,
      form: file.form,
      previousDigest: file.previous_digest,
      afterId: file.after_id,
      throughId: file.through_id,
      transfers: file.transfers,
      totalTransfers: file.total_transfers,
      entriesDigest: file.entries_digest,
      history: file.history,
      chainedMicros,
      digest: file.digest,
      publicKey: file.public_key,
      signature: file.signature,
    };
  });

const PRINTED_HEAD = /(?<![0-9a-f])[1-9]\d{0,15}:[0-9a-f]{64}(?![0-9a-f])/i;

/**
 * Finds a chain head in a file that was published: the JSON of a head, the JSON of a statement, or any text
 * that contains it as it is printed, such as a saved mail.
 */
export function findHead(content: string): PublishedHead | undefined {
  const block = headInJson(content);
  if (block) return { number: block.number, digest: block.digest, block };
  const printed = PRINTED_HEAD.exec(content)?.[0];
  return printed === undefined ? undefined : parseHead(printed);
}

function headInJson(content: string): SealedBlock | undefined {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch {
    return undefined;
  }
  const nested = z.object({ chain_head: z.unknown() }).safeParse(json);
  return headFile.safeParse(nested.data?.chain_head ?? json).data;
}

export function chainReportJson(report: ChainReport, seconds: number) {
  const { passed, check, last, unchained, starts, publicKey, head } = report;
  return {
    mode: 'chain',
    passed,
    seconds,
    transfers_checked: check.checked,
    failures: check.failures,
    offenders: check.offenders.map(({ subject, problem }) => ({ subject, problem })),
    last_head: last ? headJson(last) : null,
    expected_public_key: publicKey ?? null,
    unchained_transfers: unchained.transfers,
    unchained_oldest_age_seconds: unchained.oldestAgeSeconds,
    server_changes: starts.map(({ number, history, chainedMicros }) => ({
      block: number,
      history,
      chained_at: formatInstant(chainedMicros),
    })),
    compared_head: head ? { ...comparedJson(head), explanation: headSentence(head, last) } : null,
  };
}

function comparedJson({ given, outcome }: ComparedHead) {
  return { head: formatHead(given), outcome };
}

/** What the comparison with a published head means, and what to do. */
export function headSentence(head: ComparedHead, last: SealedBlock | undefined): string {
  const { given } = head;
  const block = `block ${given.number}`;
  const when = given.block ? `, chained at ${formatInstant(given.block.chainedMicros)}` : '';
  switch (head.outcome) {
    case 'confirmed':
      return `The chain has the published ${block}${when}, so every transfer up to it is as it was then.`;
    case 'invalid':
      return `The given head is not one that an installation published: ${head.problems.join('; ')}. Use an unchanged copy.`;
    case 'ahead':
      return (
        `The chain ends at block ${last?.number ?? 0}, before the published ${block}${when}, so this database is older than the head. ` +
        'If it was restored from a backup, or a standby without the last commits was promoted, run npx ' +
        'tallyhook reconcile --from with the time of the backup, to read what is missing from the service; note the restore with this result, and publish the new head. Otherwise blocks were removed.'
      );
    case 'replaced_after_restore':
      return (
        `Another block has the number of the published ${block}. The server or its timeline changed with block ${head.since.number} at ` +
        `${formatInstant(head.since.chainedMicros)}: a restore or failover that lost the blocks from there to the published one explains it. ` +
        'If you know of it, note it with this result and publish the new head; heads from before it are confirmed. Otherwise treat it as tampering.'
      );
    case 'rewritten':
      return (
        `Another block has the number of the published ${block}, on the same server and timeline. A dump that was restored into this server after ` +
        'the head was published, or a disk that was set back to a copy, explains it. If you know of one, note it with this result and publish the ' +
        'new head. Otherwise the chain was made again: compare with a backup from before, and find out who had access.'
      );
    default:
      return head satisfies never;
  }
}
