/** The commands that contest and accept a dispute. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import {
  type ActedOnDispute,
  acceptDisputeAs,
  type DisputeParts,
  type SeenDispute,
  submitEvidenceAs,
  uploadEvidenceAs,
} from '../../actions/actOnDispute.ts';
import { disputesOf } from '../../assembly/service.ts';
import { formatMoney } from '../../contract/money.ts';
import type { EvidenceValues } from '../../disputes/disputeService.ts';
import { contentTypeOf, EVIDENCE_FIELDS, MAX_FILE_BYTES } from '../../disputes/domain/evidence.ts';
import { evidenceVersion } from '../../disputes/evidenceVersion.ts';
import { readListedResource } from '../../ledger/read/store/resourceList.ts';
import type { Database } from '../../platform/db/database.ts';
import { toError, UnavailableError, UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { notActedText, notUploadedText } from '../../representation/disputeText.ts';
import { confirm } from '../confirm.ts';
import { clockOf, noApiKey, printJson, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { unknownId } from '../unknownId.ts';

interface Options {
  readonly reason: string;
  readonly yes: boolean;
  readonly by?: string;
  readonly json: boolean;
}

const EXIT_CODES =
  '\nExit code: 0 done, 3 there is no such dispute, 4 refused or not done, 7 the outcome is unknown: the same command finds out.';

export function disputeActionCommands(): readonly Command[] {
  return [acceptCommand(), evidenceCommand(), submitCommand(), uploadCommand()];
}

function acceptCommand(): Command {
  return new Command('accept')
    .description('accept a dispute, which gives up its amount for good')
    .argument('<dispute-id>', 'id of the dispute')
    .addOption(reasonOption('why, for the audit log'))
    .option('--yes', 'skip the confirmation prompt', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', EXIT_CODES)
    .action((disputeId: string, options: Options) =>
      withDatabase(readConfig(), async (db) => {
        const parts = await partsOf(db);
        const seen = await mustSee(parts, disputeId, options.reason);
        const what = formatMoney(seen.amountMinor, seen.currency);
        await confirm(`Accept ${disputeId} and give up ${what}?`, options.yes);
        report(seen, await acceptDisputeAs(parts, actorOf(options.by), seen), options.json);
      }),
    );
}

function evidenceCommand(): Command {
  return new Command('evidence')
    .description('show the evidence that the service has of a dispute')
    .argument('<dispute-id>', 'id of the dispute')
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action((disputeId: string, { json }: Pick<Options, 'json'>) =>
      withDatabase(readConfig(), async (db) => {
        const read = await (await partsOf(db)).service.readEvidence(disputeId);
        if (read.outcome === 'failed') throw new UnavailableError(printable(read.reason));
        const { values } = read;
        const version = evidenceVersion(values);
        if (json) printJson({ dispute_id: disputeId, evidence: values, version });
        else {
          for (const [name, value] of Object.entries(values)) {
            printLine(`${name}: ${value}`);
          }
        }
      }),
    );
}

function submitCommand(): Command {
  return new Command('submit')
    .description('submit evidence for a dispute')
    .argument('<dispute-id>', 'id of the dispute')
    .requiredOption(
      '--field <name=value...>',
      `fields to set; an empty value clears one. Names: ${EVIDENCE_FIELDS.join(', ')}`,
      readField,
    )
    .addOption(reasonOption('why, for the audit log'))
    .option('--yes', 'skip the confirmation prompt', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', EXIT_CODES)
    .action((disputeId: string, options: Options & { readonly field: EvidenceValues }) =>
      withDatabase(readConfig(), async (db) => {
        const parts = await partsOf(db);
        const seen = await mustSee(parts, disputeId, options.reason);
        const names = Object.keys(options.field).join(', ');
        await confirm(`Submit ${names} for ${disputeId}?`, options.yes);
        // Only the fields that are named are set.
        const wanted = { ...seen, wanted: options.field, evidenceVersion: undefined };
        report(seen, await submitEvidenceAs(parts, actorOf(options.by), wanted), options.json);
      }),
    );
}

function uploadCommand(): Command {
  return new Command('upload')
    .description('upload a file for evidence: a PDF, JPEG or PNG of at most 4 MiB')
    .argument('<dispute-id>', 'id of the dispute')
    .argument('<file>', 'path of the file')
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nName its id in a file field: tallyhook disputes submit.\n${EXIT_CODES}`,
    )
    .action((disputeId: string, path: string, { by, json }: Pick<Options, 'by' | 'json'>) =>
      withDatabase(readConfig(), async (db) => {
        const file = await readEvidenceFile(path);
        const given = await uploadEvidenceAs(await partsOf(db), actorOf(by), { disputeId, file });
        reportUpload(disputeId, given, json);
      }),
    );
}

type Uploaded = Awaited<ReturnType<typeof uploadEvidenceAs>>;

function reportUpload(disputeId: string, given: Uploaded, json: boolean): void {
  if (given.outcome !== 'done') endAs(given.outcome === 'unknown' ? 'unknown' : 'refused');
  const { outcome, attempt } = given;
  const fileId = given.outcome === 'done' ? given.fileId : null;
  if (json) printJson({ dispute_id: disputeId, outcome, file_id: fileId, attempt });
  else if (given.outcome === 'done') printLine(`Uploaded: ${given.fileId}`);
  else printLine(notUploadedText(disputeId, given));
}

async function readEvidenceFile(path: string): Promise<File> {
  const read = await readFile(path).catch((error: unknown) => {
    throw new UsageError(`The file cannot be read: ${printable(toError(error).message)}`);
  });
  const content = new Uint8Array(read);
  const type = contentTypeOf(content);
  if (type === undefined || content.length > MAX_FILE_BYTES) {
    throw new UsageError('The file is not a PDF, JPEG or PNG of at most 4 MiB.');
  }
  return new File([content], basename(path), { type });
}

function readField(text: string, previous: EvidenceValues = {}): EvidenceValues {
  const at = text.indexOf('=');
  const name = EVIDENCE_FIELDS.find((one) => one === text.slice(0, at));
  if (at < 1 || name === undefined) {
    throw new InvalidArgumentError('Give name=value, with the name of a field of evidence.');
  }
  return { ...previous, [name]: text.slice(at + 1) };
}

async function partsOf(db: Database): Promise<DisputeParts> {
  const service = disputesOf(readConfig(), { db, clock: await clockOf(db) });
  if (service) return { db, service };
  throw noApiKey();
}

async function mustSee(
  { db, service }: DisputeParts,
  disputeId: string,
  reason: string,
): Promise<SeenDispute> {
  await service.refresh(disputeId);
  const row = await readListedResource(db, { kind: 'dispute', id: disputeId });
  if (!row || row.amountMinor === null || row.currency === null) {
    const message = `No dispute of known amount has the id ${printable(disputeId)}.`;
    throw await unknownId(db, { id: disputeId, kinds: ['dispute'], message });
  }
  const { amountMinor, currency, stage } = row;
  return { disputeId, amountMinor, currency, stage, reason };
}

function report({ disputeId }: SeenDispute, acted: ActedOnDispute, json: boolean): void {
  if (acted.outcome !== 'done') endAs(acted.outcome === 'unknown' ? 'unknown' : 'refused');
  const { outcome, attempt } = acted;
  const status = acted.outcome === 'done' ? acted.status : null;
  if (json) printJson({ dispute_id: disputeId, outcome, status, attempt });
  else if (acted.outcome === 'done') {
    printLine(`Done: the status is ${status ?? 'unknown'}.`);
  } else printLine(notActedText(disputeId, acted));
}
