/** The system: what `doctor` checks, what it means, and what to run; and the proof of the ledger. */
import { z } from 'zod';
import type { CheckState } from '../../doctor/domain/judge.ts';
import type { Check } from '../../doctor/examine.ts';
import type { DoctorReport } from '../../doctor/keepReport.ts';
import { formatHead, type SealedBlock } from '../../ledger/domain/chain.ts';
import { measureUnchained, readChainHead, type Unchained } from '../../ledger/read/chain.ts';
import { type Proof, readProof } from '../../ledger/read/proof.ts';
import { readProcesses } from '../../monitor/store/processes.ts';
import { counted } from '../../platform/counted.ts';
import { SECOND_MS } from '../../platform/time.ts';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm } from '../components/forms.tsx';
import { Badge, Marked, Time, type Tone } from '../components/values.tsx';
import { systemHref } from '../links.ts';
import { defineAction, definePage } from '../page.ts';
import { Processes } from './Processes.tsx';
import { SystemNav } from './SystemNav.tsx';

/** Most installations are checked within it; what takes longer is on the next page. */
const WAIT_MS = 2 * SECOND_MS;

/** More than an installation has. */
const MAX_PROCESSES = 200;

export const checkAgain = defineAction({
  path: '/system/check',
  permission: 'read',
  params: z.strictObject({}),
  form: z.strictObject({}),
  act: ({ system }) => {
    system.doctor.start();
    return Promise.resolve({ outcome: 'done', to: systemHref(), notice: 'The checks run again.' });
  },
});

export const systemPage = definePage({
  path: '/system',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db, system: { doctor } }, { isLive }) => {
    const [report, proof, processes, head, unchained] = await Promise.all([
      (isLive ? doctor.last() : undefined) ?? doctor.read(WAIT_MS),
      readProof(db),
      readProcesses(db, MAX_PROCESSES),
      readChainHead(db),
      measureUnchained(db),
    ]);
    return { outcome: 'ok', data: { report, proof, processes, head, unchained } };
  },
  topics: () => ['system'],
  view: ({ report, proof, processes, head, unchained }, viewer) => ({
    title: 'System',
    body: (
      <>
        <SystemNav viewer={viewer} current={systemHref()} />
        <Checks report={report} />
        <ActionForm viewer={viewer} action={checkAgain} label="Check again" />
        <Section title="Processes">
          <Processes rows={processes} />
        </Section>
        <ProofState proof={proof} />
        <ChainState head={head} unchained={unchained} />
      </>
    ),
  }),
});

function Checks({ report: { checks, startedMs, finishedMs } }: { readonly report: DoctorReport }) {
  const passed = checks.filter(({ state }) => state === 'ok');
  return (
    <>
      <Verdict checks={checks} isOver={finishedMs !== undefined} />
      {finishedMs === undefined ? (
        <p role="status">
          {`The checks are still running; ${checks.length} have a result. `}
          <a href={systemHref()}>Show the others</a>
        </p>
      ) : (
        <p>
          {'Checked at '}
          <Time at={new Date(finishedMs)} />
          {`, in ${((finishedMs - startedMs) / SECOND_MS).toFixed(1)} s, as `}
          <code>npx tallyhook doctor</code>
          {' does on this machine.'}
        </p>
      )}
      {passed.length === checks.length ? null : (
        <DataTable
          caption="What needs attention, the worst first"
          columns={PROBLEMS}
          rows={checks.filter(({ state }) => state !== 'ok').toSorted(byState)}
          keyOf={({ name }) => name}
          empty="Nothing."
        />
      )}
      {passed.length === 0 ? null : (
        <details>
          <summary>{`${counted(passed.length, 'check')} passed`}</summary>
          <DataTable
            caption="Checks that passed"
            columns={PASSED}
            rows={passed}
            keyOf={({ name }) => name}
            empty="None."
          />
        </details>
      )}
    </>
  );
}

function Verdict({
  checks,
  isOver,
}: {
  readonly checks: readonly Check[];
  readonly isOver: boolean;
}) {
  const count = (wanted: CheckState) => checks.filter(({ state }) => state === wanted).length;
  const counts = (['failed', 'warning', 'not_checked'] as const)
    .map((state) => ({ state, number: count(state) }))
    .filter(({ number }) => number > 0);
  if (counts.length === 0) {
    // What passed so far says nothing about the others.
    if (!isOver) return null;
    return <p class="notice good">{`All checks passed: ${checks.length}.`}</p>;
  }
  const text = counts.map(({ state, number }) => COUNTED[state](number)).join(', ');
  return (
    <p class={`notice ${count('failed') > 0 ? 'bad' : 'warn'}`}>
      {`${text}, ${count('ok')} passed.`}
    </p>
  );
}

const COUNTED = {
  failed: (number: number) => `${counted(number, 'check')} failed`,
  warning: (number: number) => counted(number, 'warning'),
  not_checked: (number: number) => `${number} not checked`,
} as const;

const ORDER: readonly CheckState[] = ['failed', 'warning', 'not_checked', 'ok'];
const byState = (one: Check, other: Check) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state);

const LABELS: Readonly<Record<CheckState, string>> = {
  ok: 'passed',
  warning: 'warning',
  failed: 'failed',
  not_checked: 'not checked',
};
const TONES: Readonly<Record<CheckState, Tone>> = {
  ok: 'good',
  warning: 'warn',
  failed: 'bad',
  not_checked: 'plain',
};

const PASSED: readonly Column<Check>[] = [
  { title: 'Check', cell: ({ name }) => name },
  {
    title: 'Result',
    // A check may report several facts, each on its own line.
    cell: ({ result }) =>
      result.split('\n').map((line) => (
        <div key={line}>
          <Marked text={line} />
        </div>
      )),
  },
];

const PROBLEMS: readonly Column<Check>[] = [
  {
    title: 'Check',
    cell: ({ name, state }) => (
      <>
        {name} <Badge tone={TONES[state]}>{LABELS[state]}</Badge>
      </>
    ),
  },
  ...PASSED.slice(1),
  {
    title: 'What to do',
    cell: ({ remedy }) => (remedy === null ? null : <Marked text={remedy} />),
  },
];

function ProofState({ proof }: { readonly proof: Proof }) {
  const { failures, failedRanges, lastRunMs, fullFromMs, fullAtMs, checked, ranges, due } = proof;
  const at = (ms: number | null) => <Time at={ms === null ? null : new Date(ms)} />;
  return (
    <Section title="Proof of the ledger">
      {failures === 0 ? null : (
        <p class="problem">
          {`${counted(failures, 'row')} in ${counted(failedRanges, 'range')} did not pass. `}
          <code>npx tallyhook verify</code>
          {' names each with the next step.'}
        </p>
      )}
      {lastRunMs === null ? (
        <p class="empty">
          {'Nothing was proven yet. The scheduler begins in the night; or run '}
          <code>npx tallyhook verify</code>.
        </p>
      ) : (
        <KeyValues
          rows={[
            ['Last run', at(lastRunMs)],
            ['Everything was last proven from', at(fullFromMs)],
            ['to', at(fullAtMs)],
            [
              'This round',
              ranges === 0 ? 'finished' : `${checked} of ${ranges} ranges; ${due} are due`,
            ],
          ]}
        />
      )}
    </Section>
  );
}

interface ChainProps {
  readonly head: SealedBlock | undefined;
  readonly unchained: Unchained;
}

/** Whether it is proven is in the proof of the ledger: the check `chained` is one of those of verify. */
function ChainState({ head, unchained }: ChainProps) {
  return (
    <Section title="Chain of the journal">
      {head === undefined ? (
        <p class="empty">No transfer is chained yet.</p>
      ) : (
        <KeyValues
          rows={[
            ['Head', <code>{formatHead(head)}</code>],
            ['Chained at', <Time at={new Date(head.chainedMicros / 1_000)} />],
            [
              'Transfers',
              `${head.totalTransfers} chained, ${unchained.transfers}${unchained.isCountComplete ? '' : '+'} not yet`,
            ],
            [
              'Signed with',
              head.publicKey === null ? 'no key: set CHAIN_KEY' : <code>{head.publicKey}</code>,
            ],
          ]}
        />
      )}
      <p>
        {'Give the head to somebody who cannot change the database. '}
        <code>npx tallyhook verify --chain --head NUMBER:DIGEST</code>
        {' compares it later, and finds every transfer that was changed.'}
      </p>
    </Section>
  );
}
