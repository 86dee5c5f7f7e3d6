/** The processes of the installation, with version and health, and in one sentence whether all is well. */
import { missingRoles } from '../../monitor/domain/missingRoles.ts';
import type { ProcessRow } from '../../monitor/store/processes.ts';
import { type ProcessState, processStateOf } from '../../representation/process.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';

export function Processes({ rows }: { readonly rows: readonly ProcessRow[] }) {
  return (
    <>
      <Conclusion rows={rows} />
      <DataTable
        caption="Processes, missing ones first"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ id }) => id}
        empty="No process has reported yet. Each reports every ten seconds."
      />
    </>
  );
}

function Conclusion({ rows }: { readonly rows: readonly ProcessRow[] }) {
  const missing = missingRoles(rows);
  const versions = [
    ...new Set(rows.filter(({ isSeen }) => isSeen).map(({ version }) => version)),
  ].toSorted();
  return (
    <>
      {missing.length === 0 ? null : (
        <p class="notice bad">
          {`No process has ${missing.length === 1 ? 'the role' : 'the roles'} ${missing.join(', ')}. Read why the last one ended, and start one.`}
        </p>
      )}
      {versions.length < 2 ? null : (
        <p class="notice warn">
          {`Versions differ: ${versions.join(', ')}. During an upgrade that is normal for some minutes.`}
        </p>
      )}
    </>
  );
}

const LABELS: Readonly<Record<ProcessState, string>> = {
  ready: 'ready',
  not_ready: 'not ready',
  missing: 'missing',
};
const TONES: Readonly<Record<ProcessState, Tone>> = {
  ready: 'good',
  not_ready: 'bad',
  missing: 'bad',
};

const COLUMNS: readonly Column<ProcessRow>[] = [
  { title: 'Process', cell: ({ host, pid }) => <code>{`${host}:${pid}`}</code> },
  { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
  {
    title: 'State',
    cell: (row) => {
      const state = processStateOf(row);
      return (
        <>
          <Badge tone={TONES[state]}>{LABELS[state]}</Badge>
          {row.failures.map((failure) => (
            <div key={failure}>{failure}</div>
          ))}
        </>
      );
    },
  },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Started', cell: ({ startedAt }) => <Time at={startedAt} isRelative /> },
  {
    title: 'Last seen',
    // A live report moves every ten seconds, and would distract.
    cell: ({ isSeen, seenAt }) => (isSeen ? 'now' : <Time at={seenAt} isRelative />),
  },
];
