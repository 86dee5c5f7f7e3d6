/** The channels: whether each works, where it sends, what waits, and a test of it. */
import { z } from 'zod';
import { testChannel as testEndpoint, testedChannel } from '../../console/routes/channels.ts';
import { channelSetting, channelTitle } from '../../notify/domain/channel.ts';
import { CHANNELS, type ChannelName } from '../../notify/domain/message.ts';
import { type ChannelState, readChannels } from '../../notify/readChannels.ts';
import type { LastAttempt } from '../../notify/store/channelStates.ts';
import { roughly } from '../../representation/roughly.ts';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm } from '../components/forms.tsx';
import { Badge, Time } from '../components/values.tsx';
import { alertsHref, channelsHref, messageHref, messagesHref } from '../links.ts';
import { type Done, defineAction, definePage, type Viewer } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';

export const channelsPage = definePage({
  path: '/alerts/channels',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async ({ db, channelTargets }) => ({
    outcome: 'ok',
    data: await readChannels(db, channelTargets),
  }),
  topics: () => ['messages', 'system'],
  view: (channels, viewer) => ({
    title: 'Channels',
    crumbs: [{ label: 'Alerts', href: alertsHref() }],
    body: (
      <>
        <Headline channels={channels} />
        {channels.map((channel) => (
          <Channel key={channel.channel} channel={channel} viewer={viewer} />
        ))}
        <NotConfigured channels={channels} />
      </>
    ),
  }),
});

function Headline({ channels }: { readonly channels: readonly ChannelState[] }) {
  const failing = channels.filter((channel) => channel.failing !== undefined);
  if (channels.every(({ severity }) => severity === undefined)) {
    return <p class="headline bad">No channel gets alerts: nobody is notified.</p>;
  }
  if (failing.length === 0) return <p class="headline good">No channel fails.</p>;
  const names = failing.map(({ channel }) => channelTitle(channel)).join(', ');
  return <p class="headline bad">{`Failing: ${names}. The others get everything.`}</p>;
}

function Channel({ channel, viewer }: { readonly channel: ChannelState; readonly viewer: Viewer }) {
  const { channel: name, failing, due, oldestDueSeconds, attempts, severity } = channel;
  const title = channelTitle(name);
  return (
    <Section title={upperFirst(title)}>
      {failing ? <Failure failing={failing} setting={channel.setting} /> : null}
      <KeyValues
        rows={[
          ['State', <StateBadge key="state" channel={channel} />],
          ['Sends to', channel.sendsTo],
          ['Gets', severity === undefined ? 'order webhooks' : `alerts from ${severity} on`],
          [
            'Waiting',
            <a key="due" href={messagesHref({ state: 'due', channel: name })}>
              {due === 0 ? 'no message' : `${due}, the oldest for ${roughly(oldestDueSeconds)}`}
            </a>,
          ],
        ]}
      />
      <DataTable
        caption={`Last attempts through the ${title}, newest message first`}
        columns={ATTEMPTS}
        rows={attempts}
        keyOf={({ number }) => String(number)}
        empty="No message was sent lately. Send a test."
      />
      <ActionForm
        viewer={viewer}
        action={testChannel}
        params={{ channel: name }}
        label="Send a test"
      />
    </Section>
  );
}

function Failure({
  failing,
  setting,
}: {
  readonly failing: NonNullable<ChannelState['failing']>;
  readonly setting: string;
}) {
  return (
    <p class="notice bad">
      {'It has accepted nothing since '}
      <Time at={failing.failingSince} />
      {`: ${failing.lastError}. Check ${setting}. `}
      {failing.retryAt === null ? null : (
        <>
          {'Next attempt: '}
          <Time at={failing.retryAt} isRelative />
        </>
      )}
    </p>
  );
}

function StateBadge({ channel: { failing, attempts } }: { readonly channel: ChannelState }) {
  if (failing) return <Badge tone="bad">failing</Badge>;
  return attempts.length === 0 ? <Badge>not used lately</Badge> : <Badge tone="good">works</Badge>;
}

const ATTEMPTS: readonly Column<LastAttempt>[] = [
  {
    title: 'Message',
    cell: ({ number }) => <a href={messageHref(number)}>{number}</a>,
  },
  {
    title: 'Outcome',
    cell: ({ outcome }) => <Badge tone={outcome === 'delivered' ? 'good' : 'bad'}>{outcome}</Badge>,
  },
  { title: 'Response', cell: ({ response }) => response },
  { title: 'Attempt', isNumber: true, cell: ({ attempt }) => attempt },
  { title: 'Time', cell: ({ at }) => <Time at={at} /> },
];

function NotConfigured({ channels }: { readonly channels: readonly ChannelState[] }) {
  const others = CHANNELS.filter((name) => channels.every(({ channel }) => channel !== name));
  if (others.length === 0) return null;
  return (
    <Section title="Not configured">
      <KeyValues
        rows={others.map((name) => [
          upperFirst(channelTitle(name)),
          <code key={name}>{channelSetting(name)}</code>,
        ])}
      />
    </Section>
  );
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const testChannel = defineAction({
  path: '/alerts/channels/{channel}/test',
  permission: testEndpoint.permission,
  params: z.strictObject({ channel: z.enum(CHANNELS) }),
  form: z.strictObject({}),
  act: (parts, { params: { channel }, actor }) =>
    throughEndpoint(testEndpoint, parts, { actor, params: { channel } }, (body) =>
      testedNotice(channel, body),
    ),
});

function testedNotice(channel: ChannelName, body: unknown): Done {
  const { outcome, response } = testedChannel.parse(body);
  const did = outcome === 'delivered' ? 'accepted' : 'did not accept';
  const notice = `The ${channelTitle(channel)} ${did} the test message: ${response}.`;
  return { outcome: 'done', to: channelsHref(), notice };
}
