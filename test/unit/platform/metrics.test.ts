/** Invariants of every scrape; the numbers are those of src/platform/metrics.ts and sources.ts. */
import performanceHooks from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { createMetrics } from '../../../src/platform/metrics.ts';
import type { Measurement, Source } from '../../../src/platform/sources.ts';
import { parseMetrics } from '../../support/metrics.ts';
import { waitFor } from '../../support/waitFor.ts';

function source(name: string, read: Source['read']): Source {
  return {
    name,
    gauges: { [`${name}_depth`]: { help: 'x' }, [`${name}_rows`]: { help: 'x', labels: ['kind'] } },
    read,
  };
}

const measured = (name: string, value: number): readonly Measurement[] => [
  { gauge: `${name}_depth`, value },
  { gauge: `${name}_rows`, labels: { kind: 'a' }, value },
];

test('a counter shows every value of its labels as 0 before it counts (metrics 1)', async () => {
  const metrics = createMetrics();
  const count = metrics.counter('sent_total', 'x', { channel: ['mail', 'log'], ok: ['yes', 'no'] });
  count({ channel: 'mail', ok: 'no' });
  const { samples } = parseMetrics(await metrics.render());
  const sent = samples.filter(({ name }) => name === 'sent_total');
  expect(sent.map(({ labels, value }) => [labels.channel, labels.ok, value])).toEqual([
    ['mail', 'yes', 0],
    ['mail', 'no', 1],
    ['log', 'yes', 0],
    ['log', 'no', 0],
  ]);
});

test('the event loop is watched once, for any number of registries', async () => {
  createMetrics();
  const watch = vi.spyOn(performanceHooks, 'monitorEventLoopDelay');
  const text = await createMetrics().render();
  expect(watch).not.toHaveBeenCalled();
  expect(text.match(/^nodejs_eventloop_lag_mean_seconds /gm)).toHaveLength(1);
});

test('a histogram without labels is served before its first observation', async () => {
  const metrics = createMetrics();
  const observe = metrics.histogram({
    name: 'wait_seconds',
    help: 'x',
    buckets: [1, 2],
    values: {},
  });
  expect(parseMetrics(await metrics.render()).value('wait_seconds_count')).toBe(0);
  observe(1.5, {});
  const page = parseMetrics(await metrics.render());
  expect(page.value('wait_seconds_bucket', { le: '1' })).toBe(0);
  expect(page.value('wait_seconds_bucket', { le: '2' })).toBe(1);
});

test('a source that fails is omitted and logged; the others are served (sources 1)', async () => {
  const metrics = createMetrics({ freshForMs: 0, timeoutMs: 1_000 });
  let isUnavailable = false;
  metrics.addSource(
    source('store', () =>
      isUnavailable
        ? Promise.reject(new Error('unavailable'))
        : Promise.resolve(measured('store', 7)),
    ),
  );
  metrics.addSource(source('other', () => Promise.resolve(measured('other', 3))));
  const before = parseMetrics(await metrics.render());
  expect(before.value('store_depth')).toBe(7);
  expect(before.value('tallyhook_source_up', { source: 'store' })).toBe(1);

  isUnavailable = true;
  const away = parseMetrics(await metrics.render());
  expect(away.value('store_depth')).toBeUndefined();
  expect(away.value('store_rows', { kind: 'a' })).toBeUndefined();
  expect(away.value('tallyhook_source_up', { source: 'store' })).toBe(0);
  expect(away.value('other_depth')).toBe(3);

  isUnavailable = false;
  expect(parseMetrics(await metrics.render()).value('store_depth')).toBe(7);
});

test('a row that is deleted from a store disappears from the page', async () => {
  const metrics = createMetrics({ freshForMs: 0, timeoutMs: 1_000 });
  let kinds = ['a', 'b'];
  metrics.addSource(
    source('store', () =>
      Promise.resolve(kinds.map((kind) => ({ gauge: 'store_rows', labels: { kind }, value: 1 }))),
    ),
  );
  await metrics.render();
  kinds = ['b'];
  const { samples } = parseMetrics(await metrics.render());
  const rows = samples.filter(({ name }) => name === 'store_rows');
  expect(rows.map(({ labels }) => labels.kind)).toEqual(['b']);
});

test('a source that hangs delays no scrape, is read once, and appears when it responds (sources 1, 2)', async () => {
  const metrics = createMetrics({ freshForMs: 60_000, timeoutMs: 20 });
  let reads = 0;
  let respond: (measured: readonly Measurement[]) => void = () => undefined;
  const hanging = new Promise<readonly Measurement[]>((resolve) => {
    respond = resolve;
  });
  metrics.addSource(
    source('store', () => {
      reads += 1;
      return hanging;
    }),
  );
  for (let scrape = 0; scrape < 3; scrape += 1) {
    const page = parseMetrics(await metrics.render());
    expect(page.value('tallyhook_source_up', { source: 'store' })).toBe(0);
    expect(page.value('store_depth')).toBeUndefined();
  }
  expect(reads).toBe(1);
  respond(measured('store', 5));
  await waitFor('its measurement to be shown', async () => {
    const page = parseMetrics(await metrics.render());
    return page.value('store_depth') === 5;
  });
  expect(reads).toBe(1);
});

test('concurrent scrapes, and scrapes of fresh values, cost one reading (sources 2)', async () => {
  const metrics = createMetrics({ freshForMs: 60_000, timeoutMs: 1_000 });
  let reads = 0;
  metrics.addSource(
    source('store', () => {
      reads += 1;
      return Promise.resolve(measured('store', reads));
    }),
  );
  const pages = await Promise.all([metrics.render(), metrics.render(), metrics.render()]);
  pages.push(await metrics.render());
  expect(pages.map((page) => parseMetrics(page).value('store_depth'))).toEqual([1, 1, 1, 1]);
  expect(reads).toBe(1);
});
