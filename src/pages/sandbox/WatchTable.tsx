/** What changed last: the service, the ledger, and what happened on the way, side by side. */

import { MOVES, movesOf } from '../../demo/play.ts';
import type { ScenarioName } from '../../demo/scenarios.ts';
import type { ServiceSide, Watched, Webhook } from '../../demo/watch.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { ActionForm, Select } from '../components/forms.tsx';
import { Badge, Id, Money, type Tone } from '../components/values.tsx';
import { orderHref, resourceHref } from '../links.ts';
import type { Viewer } from '../page.ts';
import { moveResource } from './sandboxActions.ts';

export interface WatchTableProps {
  readonly rows: readonly Watched[];
  readonly caption: string;
  readonly empty: string;
  readonly viewer: Viewer;
  /** Where the page of a scenario shows its own order: the way back to it. */
  readonly scenario?: undefined | { readonly name: ScenarioName; readonly orderId: string };
}

export function WatchTable({ rows, caption, empty, viewer, scenario }: WatchTableProps) {
  const columns: readonly Column<Watched>[] = [
    { title: 'What', cell: (row) => <What row={row} /> },
    { title: 'At the service', cell: ({ service }) => <Service side={service} /> },
    { title: 'In the ledger', cell: (row) => <Ledger row={row} /> },
    { title: 'Webhooks on the way', cell: ({ webhooks }) => <Webhooks webhooks={webhooks} /> },
    { title: 'Next', cell: (row) => <Moves row={row} viewer={viewer} scenario={scenario} /> },
  ];
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={rows}
      keyOf={({ kind, id }) => `${kind}:${id}`}
      empty={empty}
    />
  );
}

function What({ row: { kind, id, orderId, ledger } }: { readonly row: Watched }) {
  return (
    <>
      {kind} <Id id={id} href={ledger && resourceHref(kind, id)} />
      {orderId === null || kind === 'payout' ? null : (
        <small class="line">
          order {ledger?.orderKey ? <a href={orderHref(orderId)}>{orderId}</a> : orderId}
        </small>
      )}
    </>
  );
}

function Service({ side }: { readonly side: ServiceSide }) {
  const { status, amountMinor, capturedMinor, currency } = side;
  return (
    <>
      <Badge>{status}</Badge>
      <small class="line">
        <Money amountMinor={amountMinor} currency={currency} />
      </small>
      {capturedMinor === undefined ? null : (
        <small class="line">
          captured <Money amountMinor={capturedMinor} currency={currency} />
        </small>
      )}
    </>
  );
}

function Ledger({ row: { kind, ledger, differences, webhooks } }: { readonly row: Watched }) {
  if (ledger === undefined) return <Badge tone="bad">not known</Badge>;
  const { status, amountMinor, capturedMinor, currency, uncertainties } = ledger;
  const isEqual = differences.length === 0;
  return (
    <>
      <Badge tone={isEqual ? 'good' : 'bad'}>{status ?? 'mentioned only'}</Badge>
      <small class="line">
        <Money amountMinor={amountMinor} currency={currency} />
      </small>
      {kind === 'payment' ? (
        <small class="line">
          captured <Money amountMinor={capturedMinor} currency={currency} />
        </small>
      ) : null}
      <small class="line">
        {isEqual ? equalText(webhooks) : differences.map(shortened).join('; ')}
      </small>
      {uncertainties.length === 0 ? null : (
        <small class="line">uncertain, so it is retrieved from the service</small>
      )}
    </>
  );
}

function equalText(webhooks: readonly Webhook[]): string {
  const isAsked = webhooks.length > 0 && webhooks.every(({ fate }) => fate === 'lost');
  return isAsked ? 'equal: retrieved from the service' : 'equal to the service';
}

/** The table names the resource already. */
function shortened(difference: string): string {
  return difference.slice(difference.indexOf(': ') + 2);
}

const TONES: Readonly<Record<Webhook['fate'], Tone>> = {
  delivered: 'good',
  waiting: 'warn',
  refused: 'bad',
  lost: 'bad',
};

function Webhooks({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0) return <>no webhook</>;
  return (
    <ul class="stacked">
      {webhooks.map((webhook, place) => (
        <li key={`${place} ${webhook.type}`}>
          {webhook.type.replaceAll('_', ' ')}{' '}
          <Badge tone={TONES[webhook.fate]}>{fateText(webhook)}</Badge>
        </li>
      ))}
    </ul>
  );
}

function fateText({ fate, acknowledged, refusedWith }: Webhook): string {
  switch (fate) {
    case 'lost':
      return 'lost';
    case 'waiting':
      return 'on its way';
    case 'refused':
      return `refused (${refusedWith ?? 'no response'}), tried again later`;
    case 'delivered': {
      const times = acknowledged > 1 ? ` ${acknowledged} times` : '';
      const before = refusedWith === null ? '' : `, after ${refusedWith}`;
      return `delivered${times}${before}`;
    }
  }
}

function Moves({
  row: { kind, id, service },
  viewer,
  scenario,
}: { readonly row: Watched } & Pick<WatchTableProps, 'viewer' | 'scenario'>) {
  const moves = movesOf({ kind, status: service.status });
  if (moves.length === 0) return <>final</>;
  if (!viewer.may(moveResource.permission)) return null;
  return (
    <ActionForm viewer={viewer} action={moveResource} params={{ kind, id }} label="Do it">
      <input type="hidden" name="status" value={service.status} />
      <input type="hidden" name="amount_minor" value={service.amountMinor} />
      {scenario ? <input type="hidden" name="back" value={scenario.name} /> : null}
      {scenario ? <input type="hidden" name="order" value={scenario.orderId} /> : null}
      <Select
        name="move"
        label="What happens"
        options={moves.map((name) => ({ value: name, label: MOVES[name].label }))}
      />
    </ActionForm>
  );
}
