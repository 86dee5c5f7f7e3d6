/** Reads windows of a list; the rules are those of domain/windows.ts and domain/walks.ts. */
import {
  type CallOptions,
  type Page,
  type PaymentServiceClient,
  PaymentServiceError,
} from '../client/index.ts';
import { smallerLimit } from '../contract/limits.ts';
import { type Account, foreignMerchantOf, profileOf } from '../ledger/domain/account.ts';
import { orderKeyOf } from '../ledger/domain/orderKey.ts';
import {
  capturedOf,
  isHint,
  readResource,
  type SnapshotContent,
} from '../ledger/domain/snapshot.ts';
import type { Remote } from './domain/compare.ts';
import { afterWalk, judgeWalks, NO_WALKS } from './domain/walks.ts';
import { isWithin, judgePage, narrow, type PageFacts, type Span } from './domain/windows.ts';
import { ServiceUnusable } from './interruptions.ts';
import { fetchPage, KIND_OF, type Stream } from './streams.ts';

/** One row of a list. */
export interface ListedRow {
  readonly remote: Remote;
  readonly content: SnapshotContent;
  readonly observedMicros: number;
  /** It has too few fields to be applied, or names another merchant account: it is retrieved instead. */
  readonly isHint: boolean;
  /** The profile that it names. */
  readonly profileId: string | undefined;
}

/** A window that was read completely. */
export interface ListedWindow {
  readonly span: Span;
  readonly rows: readonly ListedRow[];
  /** `window`: one page showed all of it. `walks`: it took several walks. */
  readonly by: 'window' | 'walks';
  /** The list kept changing, or counts more rows than it shows; rows may be missing. */
  readonly isUnstable: boolean;
  /** The list showed rows from outside of the span. */
  readonly isFilterIgnored: boolean;
  /** Ids of rows with unreadable amounts, and NO_ID for rows that name no resource of the list. */
  readonly unreadable: readonly string[];
}

/** In place of the id of a row without one. */
export const NO_ID = 'a row without an id';

/** Sends a request, and repeats it while the rate budget is used up. */
export type SendRequest = <T>(call: (options: CallOptions) => Promise<T>) => Promise<T>;

export interface ListReader {
  readonly limit: () => number;
  /**
   * Reads from `span.fromMs` on, as much of the span as one whole window covers. Where the service
   * ignores the filter, a window costs as much as everything, so everything up to `ceilingMs` is read
   * at once.
   * @throws ServiceUnusable
   */
  readonly read: (span: Span, ceilingMs: number) => Promise<ListedWindow>;
  /** Whether a page of this span shows rows from outside of it. @throws ServiceUnusable */
  readonly showsOutside: (span: Span) => Promise<boolean>;
  /** The service's time, from a page of one row. @returns undefined where it sends none */
  readonly serviceTimeMs: () => Promise<number | undefined>;
}

export interface ListReaderParts {
  readonly client: PaymentServiceClient;
  readonly stream: Stream;
  readonly request: SendRequest;
  readonly nowMs: () => number;
  /** The largest page that the list is known to send. */
  readonly limit: number;
  readonly account: Account;
}

interface ShownPage extends PageFacts {
  readonly rows: number;
  readonly listed: readonly ListedRow[];
  /** Ids of every readable row, also from outside of the span. */
  readonly ids: readonly string[];
  readonly unreadable: readonly string[];
  readonly isFilterIgnored: boolean;
  /** All rows, duplicates and unreadable ones included: what an offset counts. */
  readonly raw: number;
}

/** Makes a reader of one list. */
export function createListReader(parts: ListReaderParts): ListReader {
  const { client, stream, request } = parts;
  let { limit } = parts;
  let isOvercounted = false;

  const fetch = async (span: Span, offset: number, rows = limit): Promise<ShownPage> => {
    let serviceTimeMs: number | undefined;
    const page = await request((options) =>
      fetchPage(
        client,
        stream,
        { span, offset, limit: Math.min(rows, limit) },
        {
          ...options,
          onResponse: (metadata) => {
            ({ serviceTimeMs } = metadata);
          },
        },
      ),
    ).catch((error: unknown) => {
      const smaller = isLimitRefused(error, offset) ? smallerLimit(limit) : undefined;
      if (smaller === undefined) throw error;
      limit = smaller;
      return undefined;
    });
    if (!page) return await fetch(span, offset);
    const observedMs = serviceTimeMs ?? parts.nowMs();
    const shown = show(page, { stream, span, limit, observedMs, account: parts.account });
    return isOvercounted ? { ...shown, totalCount: undefined } : shown;
  };

  /** A list may accept a limit that is larger than its largest page. */
  const learnLimit = (page: ShownPage): void => {
    const isCut = page.raw < limit && (page.totalCount ?? 0) > limit;
    if (isCut && page.raw === smallerLimit(limit)) limit = page.raw;
  };

  const isWhole = async (span: Span, page: ShownPage): Promise<boolean> => {
    const verdict = judgePage(page);
    if (verdict !== 'probe') return verdict === 'whole';
    const behind = await fetch(span, page.raw, 1);
    return behind.raw === 0;
  };

  const read = async (span: Span, ceilingMs: number): Promise<ListedWindow> => {
    const page = await fetch(span, 0);
    learnLimit(page);
    if (page.isFilterIgnored) {
      return await walk({ fromMs: span.fromMs, toMs: ceilingMs }, fetch, page);
    }
    if (await isWhole(span, page)) {
      const { listed, unreadable } = page;
      const isUnstable = page.rows < (page.totalCount ?? 0);
      isOvercounted ||= isUnstable;
      return { span, rows: listed, unreadable, by: 'window', isUnstable, isFilterIgnored: false };
    }
    const narrower = narrow(span, page);
    return narrower ? await read(narrower, ceilingMs) : await walk(span, fetch, page);
  };

  return {
    limit: () => limit,
    read,
    showsOutside: async (span) => (await fetch(span, 0)).isFilterIgnored,
    serviceTimeMs: async () => {
      let timeMs: number | undefined;
      const nowMs = parts.nowMs();
      await request((options) =>
        fetchPage(
          client,
          stream,
          { span: { fromMs: nowMs, toMs: nowMs }, limit: 1, offset: 0 },
          {
            ...options,
            onResponse: ({ serviceTimeMs }) => {
              timeMs = serviceTimeMs;
            },
          },
        ),
      );
      return timeMs;
    },
  };
}

/** A limit that is too large is refused like any invalid field; the first page sends no other. */
function isLimitRefused(error: unknown, offset: number): boolean {
  const cause = error instanceof ServiceUnusable ? error.cause : undefined;
  return (
    cause instanceof PaymentServiceError &&
    cause.kind === 'refused' &&
    (cause.httpStatus === 400 || cause.httpStatus === 422) &&
    offset === 0
  );
}

interface ShowInput {
  readonly stream: Stream;
  readonly span: Span;
  readonly limit: number;
  readonly observedMs: number;
  readonly account: Account;
}

function show(page: Page<object>, input: ShowInput): ShownPage {
  const { stream, span, limit, observedMs, account } = input;
  const observedMicros = observedMs * 1000;
  const listed = new Map<string, ListedRow>();
  const ids = new Set<string>();
  const unreadable: string[] = [];
  // A row that the client cannot read by the contract may still name a resource, or be readable here.
  const rows: readonly unknown[] = [...page.items, ...page.unreadable];
  for (const row of rows) {
    const reading = readResource(row, observedMicros);
    if (reading.outcome !== 'read' || reading.ref.kind !== KIND_OF[stream]) {
      unreadable.push(reading.outcome === 'unreadable' ? reading.ref.id : NO_ID);
      continue;
    }
    const { ref, content } = reading;
    const remote = toRemote(ref, content);
    ids.add(ref.id);
    if (!isWithin(span, remote.createdMs)) continue;
    const isForeign = foreignMerchantOf(row, account) !== undefined;
    listed.set(ref.id, {
      remote,
      content,
      observedMicros,
      isHint: isForeign || isHint(ref, content),
      profileId: isForeign ? undefined : profileOf(row),
    });
  }
  return {
    rows: ids.size + unreadable.length,
    ids: [...ids],
    raw: rows.length,
    listed: [...listed.values()],
    unreadable,
    isFilterIgnored: ids.size > listed.size,
    limit,
    totalCount: page.totalCount,
    hasMore: page.hasMore,
  };
}

/** A body as the side of a comparison. */
function toRemote(ref: Pick<Remote, 'kind' | 'id'>, content: SnapshotContent): Remote {
  return {
    kind: ref.kind,
    id: ref.id,
    status: content.status,
    stage: content.stage,
    currency: content.currency,
    amountMinor: content.amountMinor,
    capturedMinor: capturedOf(content),
    versionMicros: content.versionMicros,
    createdMs: content.createdMicros === undefined ? undefined : content.createdMicros / 1000,
    paymentId: content.paymentId,
    orderKey:
      ref.kind === 'payment' && content.orderId !== undefined
        ? orderKeyOf({ id: ref.id, orderId: content.orderId })
        : undefined,
  };
}

type Fetch = (span: Span, offset: number) => Promise<ShownPage>;

/** Walks the span by offset until the walks agree; keeps what lies in the span. */
async function walk(span: Span, fetch: Fetch, first: ShownPage): Promise<ListedWindow> {
  const rows = new Map<string, ListedRow>();
  const unreadable = new Set<string>();
  let { isFilterIgnored } = first;
  let state = NO_WALKS;
  while (judgeWalks(state) === 'again') {
    let totalCount: number | undefined;
    for await (const page of pagesOf(span, fetch)) {
      for (const row of page.listed) rows.set(row.remote.id, row);
      for (const id of page.unreadable) unreadable.add(id);
      isFilterIgnored ||= page.isFilterIgnored;
      totalCount = page.totalCount ?? totalCount;
    }
    // A total that counts rows outside of the span shows nothing about the span.
    if (isFilterIgnored) totalCount = undefined;
    state = afterWalk(state, { seen: rows.size + unreadable.size, totalCount });
  }
  return {
    span,
    rows: [...rows.values()],
    unreadable: [...unreadable],
    by: 'walks',
    isUnstable: judgeWalks(state) === 'unstable',
    isFilterIgnored,
  };
}

/**
 * One walk. A short page moves the offset by the rows it showed, so that the next page has what it left
 * out. The walk ends at a page without new rows: rows that are inserted in front meanwhile would keep
 * moving the end.
 */
async function* pagesOf(span: Span, fetch: Fetch): AsyncGenerator<ShownPage> {
  const shown = new Set<string>();
  for (let offset = 0; ; ) {
    const page = await fetch(span, offset);
    const before = shown.size;
    for (const id of [...page.ids, ...page.unreadable]) shown.add(id);
    yield page;
    if (shown.size === before) return;
    offset += page.raw;
  }
}
