/** The form with the evidence of a dispute: first its files, then every field of the contract. */
import { z } from 'zod';
import { isUndecided } from '../../actions/actOnDispute.ts';
import { type AuditRow, searchAudit } from '../../audit/store/audit.ts';
import { id } from '../../console/schemas.ts';
import { EVIDENCE_GROUPS, type EvidenceField } from '../../contract/requests/evidence.ts';
import type { EvidenceValues } from '../../disputes/disputeService.ts';
import { isFileField } from '../../disputes/domain/evidence.ts';
import { evidenceVersion } from '../../disputes/evidenceVersion.ts';
import { type ListedResource, readListedResource } from '../../ledger/read/store/resourceList.ts';
import { DataTable, Section } from '../components/blocks.tsx';
import { ActionForm, Field, Hidden, Reason, Select, TextArea } from '../components/forms.tsx';
import { Id, Time } from '../components/values.tsx';
import { resourceHref, resourcesHref } from '../links.ts';
import { NO_KEY_OF_SERVICE } from '../noKeyOfService.ts';
import { definePage, type Viewer } from '../page.ts';
import { Deadline, ReasonMeaning } from './DisputeParts.tsx';
import { submitEvidence, uploadFile } from './disputeActions.ts';

interface EvidenceFile {
  readonly fileId: string;
  readonly name: string;
  readonly at: Date;
  readonly by: string;
}

interface EvidenceData {
  readonly row: ListedResource;
  readonly values: EvidenceValues;
  /** Why the evidence at the service is not known. */
  readonly notShown: string | undefined;
  readonly files: readonly EvidenceFile[];
}

/** Entries of uploads that are searched for the files of a dispute; each upload has two. */
const MAX_ENTRIES = 200;

export const evidencePage = definePage({
  path: '/disputes/{id}/evidence',
  permission: 'move_money',
  params: z.strictObject({ id }),
  query: z.strictObject({}),
  load: async ({ db, disputes }, { params }) => {
    const row = await readListedResource(db, { kind: 'dispute', id: params.id });
    if (!row) {
      const message = `No dispute has the id ${JSON.stringify(params.id)}.`;
      return { outcome: 'not_found', message };
    }
    if (!isUndecided(row)) {
      return { outcome: 'conflict', message: `${row.id} is decided: ${row.status}.` };
    }
    const read = await disputes?.service.readEvidence(row.id);
    const { rows: entries } = await searchAudit(
      db,
      {
        actor: undefined,
        action: 'dispute.upload',
        subject: { kind: 'dispute', id: row.id },
        orderKeys: undefined,
        since: undefined,
        isOpen: false,
      },
      { below: Number.MAX_SAFE_INTEGER, limit: MAX_ENTRIES },
    );
    const files = entries.flatMap((entry) => fileOf(entry) ?? []);
    const values = read?.outcome === 'read' ? read.values : {};
    const notShown = read?.outcome === 'read' ? undefined : (read?.reason ?? NO_KEY_OF_SERVICE);
    return { outcome: 'ok', data: { row, values, notShown, files } };
  },
  view: (data, viewer) => ({
    title: `Evidence for dispute ${data.row.id}`,
    crumbs: [
      { label: 'Disputes', href: resourcesHref('dispute') },
      { label: data.row.id, href: resourceHref('dispute', data.row.id) },
    ],
    body: <EvidenceBody data={data} viewer={viewer} />,
  }),
});

function fileOf({ result, detail, recordedAt, actorName }: AuditRow): EvidenceFile | undefined {
  const { file_id: fileId, name } = detail;
  return result === 'done' && typeof fileId === 'string'
    ? { fileId, name: String(name), at: recordedAt, by: actorName }
    : undefined;
}

interface BodyProps {
  readonly data: EvidenceData;
  readonly viewer: Viewer;
}

function EvidenceBody({ data, viewer }: BodyProps) {
  const { row, files } = data;
  return (
    <>
      <Deadline row={row} nowMs={viewer.nowMs} />
      <ReasonMeaning row={row} />
      <Section title="1. Upload files">
        <p>Uploading submits nothing. Upload first: text that you typed below would be lost.</p>
        <ActionForm
          viewer={viewer}
          action={uploadFile}
          params={{ dispute_id: row.id }}
          label="Upload"
        >
          <label class="field">
            <span>File</span>
            <input type="file" name="file" required accept=".pdf,.jpg,.jpeg,.png" />
            <small>A PDF, JPEG or PNG of at most 4 MiB.</small>
          </label>
        </ActionForm>
        <DataTable
          caption="Uploaded files, newest first"
          rows={files}
          keyOf={({ fileId }) => fileId}
          empty="No file was uploaded from Tallyhook yet."
          columns={[
            { title: 'Name', cell: ({ name }) => name },
            { title: 'Id', cell: ({ fileId }) => <Id id={fileId} /> },
            { title: 'Uploaded', cell: ({ at }) => <Time at={at} /> },
            { title: 'By', cell: ({ by }) => by },
          ]}
        />
      </Section>
      <Section title="2. Fill in and submit">
        {data.notShown === undefined ? null : (
          <p class="problem">
            {`The service does not show what it has (${data.notShown}). What you fill in is added; nothing is removed.`}
          </p>
        )}
        <p>
          What the service shows of its evidence is filled in. Some services show files only: a text
          that they have is empty here, and stays there unless you type another. A field that was
          filled in and that you empty is removed there. You can submit again until the deadline.
        </p>
        <EvidenceForm data={data} viewer={viewer} />
      </Section>
    </>
  );
}

function EvidenceForm({ data: { row, values, notShown, files }, viewer }: BodyProps) {
  const { amountMinor, currency, stage } = row;
  if (amountMinor === null || currency === null) {
    return <p>Its amount is unknown. Refresh the dispute from the service first.</p>;
  }
  return (
    <ActionForm
      viewer={viewer}
      action={submitEvidence}
      params={{ dispute_id: row.id }}
      label="Submit evidence"
      isDangerous
    >
      <Hidden name="expected_amount" value={String(amountMinor)} />
      <Hidden name="currency" value={currency} />
      <Hidden name="stage" value={stage ?? ''} />
      <Hidden name="had" value={Object.keys(values).join(' ')} />
      {notShown === undefined ? (
        <Hidden name="evidence_version" value={evidenceVersion(values)} />
      ) : null}
      {Object.entries(EVIDENCE_GROUPS).map(([group, names]) => (
        <fieldset key={group}>
          <legend>{words(group)}</legend>
          {names.map((name) => (
            <EvidenceInput key={name} name={name} value={values[name] ?? ''} files={files} />
          ))}
        </fieldset>
      ))}
      <Reason />
    </ActionForm>
  );
}

const SHORT: ReadonlySet<string> = new Set<EvidenceField>([
  'customer_name',
  'customer_email_address',
  'customer_purchase_ip',
  'service_date',
  'shipping_carrier',
  'shipping_date',
  'shipping_tracking_number',
]);

function EvidenceInput({
  name,
  value,
  files,
}: {
  readonly name: EvidenceField;
  readonly value: string;
  readonly files: readonly EvidenceFile[];
}) {
  if (isFileField(name)) {
    const own = files.map((file) => ({
      value: file.fileId,
      label: `${file.name} (${file.fileId})`,
    }));
    const isOther = value !== '' && !files.some(({ fileId }) => fileId === value);
    const options = isOther ? [{ value, label: value }, ...own] : own;
    return <Select name={name} label={words(name)} value={value} any="No file" options={options} />;
  }
  if (name === 'service_date') {
    return <Field name={name} label="Service date" value={value} hint="Such as 2026-11-23." />;
  }
  // A field of one line would remove line breaks of the service's value.
  return SHORT.has(name) && !/[\r\n]/.test(value) ? (
    <Field name={name} label={words(name)} value={value} />
  ) : (
    <TextArea name={name} label={words(name)} value={value} rows={2} />
  );
}

/** `customer_purchase_ip` as people read it: `Customer purchase IP`. */
function words(name: string): string {
  const text = name.replaceAll('_', ' ').replace(/\bip\b/, 'IP');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
