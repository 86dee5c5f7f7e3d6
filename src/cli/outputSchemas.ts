/** Shapes of what commands print with `--json` and the admin API does not return. Fields may be added. */
import { z } from 'zod';
import { RULES, SEVERITIES } from '../alerts/domain/alert.ts';
import { chainHead } from '../console/routes/chain.ts';
import { RESOURCE_KINDS } from '../contract/resources/index.ts';
import { amount, currency, time } from '../webhooks/fields.ts';

const count = z.int().min(0);
const numbers = z.array(z.int().min(1));
const text = z.string().nullable();
const optionalTime = time.nullable();
const optionalAmount = amount.nullable();
const seconds = z.number().min(0);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const detail = z.json().describe('Depends on the class.');
const resource = { kind: z.enum(RESOURCE_KINDS), id: z.string() };

/** What a command adds to the result of an action, because it prints one where the API has an error. */
export const outcome = z
  .string()
  .describe('`done`; `unknown`: find out before you try again; otherwise why it was not done.');

const described = z.strictObject({ name: z.string(), meaning: z.string() });

const addresses = z
  .strictObject({
    webhook_url: text,
    admin_url: text,
    health_url: text,
    sandbox_url: text,
    database: z.string(),
    queues: z.enum(['postgres', 'redis']),
  })
  .meta({ id: 'Addresses' });

const sandboxFacts = z
  .strictObject({
    base_url: z.string(),
    api_key: z.string().describe('Where the key is.'),
    merchant_id: z.string(),
    profile_id: z.string(),
    control_url: z.string(),
    database: z.string(),
  })
  .meta({ id: 'SandboxAddresses' });

const logLine = z
  .looseObject({ level: z.string(), time, msg: z.string().optional() })
  .meta({ id: 'LogLine' });

export const started = z.union([addresses, logLine]);
export const startedSandbox = z.union([sandboxFacts, logLine]);

const comparedOrders = z.array(
  z.strictObject({
    order_key: z.string().describe('`order:…`, `payment:…` or `payout:…`.'),
    outcome: z.enum(['equal', 'lost', 'different']),
    differences: z.array(z.string()),
  }),
);

export const demo = z
  .strictObject({
    seed: count,
    orders: count,
    failures: z.array(z.string()),
    webhooks: z.strictObject({ events: count, sent: count, duplicated: count, lost: count }),
    after_webhooks: comparedOrders,
    reconciliation: z.strictObject({
      requests: count,
      found: count,
      repaired: count,
      failures: z.array(z.string()),
    }),
    after_reconciliation: comparedOrders,
    passed: z.boolean(),
  })
  .meta({ id: 'DemoReport' });

export const triggered = z
  .strictObject({
    event_id: z.string(),
    event_type: z.string(),
    resource_id: z.string(),
    order_id: z.string(),
    delivery: z.enum(['lost', 'waiting', 'refused', 'delivered']),
  })
  .meta({ id: 'TriggeredEvent' });

export const migrated = z
  .strictObject({
    applied: z.array(z.string()).describe('Names of migrations.'),
    refused: z.array(z.string()).describe('Statements that an administrator has to execute.'),
  })
  .meta({ id: 'Migrated' });

export const signed = z
  .strictObject({ header: z.string(), signature: z.string() })
  .meta({ id: 'SignedBody' });

export const sent = z
  .strictObject({
    url: z.string(),
    status: z.int(),
    reply: z.json().describe('The body of the response: JSON, or a text.'),
  })
  .meta({ id: 'SentBody' });

const forwarded = {
  number: z.int().min(1).describe('Inbox number.'),
  event_id: text,
  event_type: text,
  received_at: time,
};

export const listened = z
  .strictObject({
    ...forwarded,
    status: z.int().nullable().describe('Of the response; null if there is no body to forward.'),
    duration_ms: count.nullable(),
    repeat: z.boolean().describe('It may have been forwarded before.'),
    body_absence: text,
  })
  .meta({ id: 'ForwardedEvent' });

/** What `events show` prints beside what the API returns. */
export const bodyFields = {
  body: text.describe('It holds personal data.'),
  body_absence: text,
  findings: z.array(z.strictObject({ class: z.string(), state: z.string(), detail })),
  findings_complete: z.boolean(),
  variants: z.array(text).describe('Other bodies that arrived under the id.'),
  variants_complete: z.boolean(),
};

export const variant = z
  .strictObject({ received_at: time, body_sha256: digest, body: text })
  .meta({ id: 'EventVariant' });

export const replayed = z
  .strictObject({
    replayed: numbers.describe('Inbox numbers.'),
    enqueued: z
      .boolean()
      .describe('False if the queue is unavailable: they are enqueued within two minutes.'),
    replay: z.int().min(1).nullable().describe('With `--dead`: the number of the replay.'),
  })
  .meta({ id: 'ReplayedEvents' });

const evidence = z
  .strictObject({
    content_hash: z.string(),
    source: z.string(),
    event_id: text,
    event_number: z.int().min(1).nullable(),
    observed_at: time,
    recorded_at: time,
    epoch: count,
    version: text,
    status: text,
    stage: text,
  })
  .meta({ id: 'Evidence' });

const explainedFindings = z.array(
  z.strictObject({ class: z.string(), meaning: z.string(), detail, opened_at: time }),
);

const decision = z.strictObject({
  outcome: z.enum(['unseen', 'only_one', 'decided']),
  because: z.string(),
  by: text,
  runner_up: evidence.nullable(),
});

const contradiction = z.strictObject({
  terms: z.strictObject({
    status: text,
    stage: text,
    amount: optionalAmount,
    currency: currency.nullable(),
    amount_received: optionalAmount,
    amount_capturable: optionalAmount,
    payment_id: text.describe('Of a refund or dispute: the payment that it names.'),
    order_id: text.describe('The order that it names.'),
  }),
  observed_at: time,
});

const decline = z.strictObject({
  unified_code: text,
  message: text,
  retry: text,
  may_retry: z.boolean().nullable(),
  may_use_another_method: z.boolean().nullable(),
  advice: z.string(),
});

const explainedTransfer = z.strictObject({
  id: z.int().min(1),
  at: time,
  effective_at: optionalTime,
  leg: z.string(),
  number: z.int(),
  currency,
  amount: z.int(),
  debit: described,
  credit: described,
  meaning: z.string(),
  is_reversal: z.boolean(),
  event_id: text,
  event_number: z.int().min(1).nullable(),
  head_hash: z.string(),
});

const partExplanation = z
  .strictObject({
    ...resource,
    status: text,
    stage: text,
    currency: currency.nullable(),
    amount: optionalAmount,
    net_amount: optionalAmount,
    amount_authorized: amount,
    amount_captured: amount,
    reason: text,
    requested_for: text,
    snapshots: count,
    head: evidence.nullable(),
    decision,
    filled: z.array(
      z.strictObject({
        field: z.string(),
        value: z.union([z.string(), z.number()]),
        from: evidence,
      }),
    ),
    amounts: z.array(
      z.strictObject({
        field: z.enum(['amount_captured', 'amount_authorized']),
        amount,
        basis: z.enum(['carried', 'provisional', 'unknown']),
        because: z.string(),
        from: evidence.nullable(),
      }),
    ),
    uncertainties: z.array(described),
    illegal_steps: z.array(z.strictObject({ from: z.string(), to: z.string() })),
    contradiction: contradiction.nullable(),
    findings: explainedFindings,
    decline: decline.nullable(),
    is_postable: z.boolean(),
    transfers: z.array(explainedTransfer),
    discrepancies: z.array(z.string()),
    next_check_at: optionalTime,
  })
  .meta({ id: 'PartExplanation' });

/** @param order fields of an order in the API @param totals those of its totals in one currency */
export function explanationSchema(
  { order_id, order_key, named_by, status, moved_to }: Readonly<Record<string, z.ZodType>>,
  totals: Readonly<Record<string, z.ZodType>>,
) {
  const because = z.string();
  const currencies = z.array(
    z.strictObject({
      ...totals,
      because,
      decided_by: z.array(z.strictObject(resource)),
      notes: z.array(z.string()),
    }),
  );
  const explained = z
    .strictObject({
      order_id,
      order_key,
      named_by,
      status,
      because,
      moved_to,
      currencies,
      findings: explainedFindings,
      parts: z.array(partExplanation),
      discrepancies: z.array(z.string()),
    } as z.core.$ZodLooseShape)
    .meta({ id: 'OrderExplanation' });
  return z
    .strictObject({ orders: z.array(explained), resources: z.array(partExplanation) })
    .meta({ id: 'Explanations' });
}

const scalar = z.union([z.string(), z.number(), z.boolean()]).nullable();

export const refreshed = z
  .strictObject({
    resources: z.array(
      z.strictObject({
        ...resource,
        outcome: z.enum(['applied', 'missing', 'failed']),
        changes: z.array(z.strictObject({ field: z.string(), before: scalar, after: scalar })),
        reason: text.describe('Null if it was applied.'),
      }),
    ),
  })
  .meta({ id: 'Refreshed' });

/** Lists without a run. */
export const notCompared = z.array(z.strictObject({ stream: z.string(), reason: z.string() }));

/** @param erasure a request, @param proof of a search, as in the API */
export function erasedSchema(erasure: z.ZodType, proof: z.ZodType) {
  return z
    .strictObject({
      number: z.int().min(1),
      outcome: z.enum(['erased', 'waiting', 'busy']),
      unknown_subjects: z
        .array(z.string())
        .describe('Of what was named, that of which nothing is known, such as `order:ord_1`.'),
      request: erasure.nullable(),
      pending_events: numbers.nullable().describe('Of `waiting`: events that are not applied yet.'),
      proof: proof.nullable().describe('Of `erased`.'),
    })
    .meta({ id: 'Erased' });
}

/** @param fields lists that `status` has as the API has them */
export function statusSchema(fields: {
  readonly reconciliations: z.ZodType;
  readonly processes: z.ZodType;
}) {
  return z
    .strictObject({
      at: time,
      state: z.string(),
      headline: z.string(),
      unresolved_alerts: count,
      alerts: z.array(
        z.strictObject({
          number: z.int().min(1).nullable().describe('Null: several of a rule.'),
          rule: z.enum(RULES),
          severity: z.enum(SEVERITIES),
          text: z.string(),
          opened_at: time,
          is_handled: z.boolean(),
        }),
      ),
      deadlines: z.array(
        z.strictObject({
          subject: z.string(),
          id: z.string(),
          text: z.string(),
          deadline_at: time,
          amount: optionalAmount,
          currency: currency.nullable(),
          alert: z.int().min(1).nullable(),
        }),
      ),
      money: z.array(
        z.strictObject({
          day: z.string(),
          currency,
          captured: amount,
          refunded: amount,
          disputed: amount,
          paid_out: amount,
        }),
      ),
      events: z.strictObject({
        last_received_at: optionalTime,
        last_minute: count,
        typical_seconds: seconds.nullable(),
        longest_seconds: seconds.nullable(),
        pending: count,
        oldest_pending_seconds: seconds,
        dead: count,
      }),
      pause: z
        .strictObject({ paused_at: time, paused_by: z.string(), reason: z.string() })
        .nullable(),
      reconciliations: z.array(fields.reconciliations),
      missed_webhooks: count,
      missing_roles: z.array(z.string()),
      processes: z.array(fields.processes),
    })
    .meta({ id: 'Status' });
}

export const opened = z
  .strictObject({ url: z.string(), expires_in_seconds: z.int().min(1) })
  .meta({ id: 'SignInAddress' });

export const doctor = z
  .strictObject({
    healthy: z.boolean(),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(['ok', 'warning', 'failed', 'not_checked']),
        result: z.string(),
        remedy: text.describe('Null if the state is `ok`.'),
      }),
    ),
  })
  .meta({ id: 'DoctorReport' });

export const settings = z
  .strictObject({
    settings: z.array(
      z.strictObject({
        name: z.string(),
        value: text.describe('Null for a secret, and for a setting that is not set.'),
        source: z.enum(['environment', 'file', 'secret_file', 'default', 'unset']),
        path: text.describe('Of a setting that is read from a file of its own.'),
        fingerprints: z
          .array(z.string())
          .nullable()
          .describe('Of the secrets that sign webhooks, in their order.'),
      }),
    ),
  })
  .meta({ id: 'SettingsInForce' });

const verification = z
  .strictObject({
    mode: z.enum(['incremental', 'full', 'rebuild']),
    passed: z.boolean(),
    seconds,
    bodies_from: text,
    coverage: z
      .strictObject({
        ranges_checked: count,
        ranges_left: count,
        continued_from: optionalTime,
        round: z.strictObject({ ranges: count, checked: count }),
        everything_proven_from: optionalTime,
        everything_proven_at: optionalTime,
      })
      .nullable(),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        meaning: z.string(),
        checked: count,
        failures: count,
        offenders: z.array(
          z.strictObject({
            subject: z.string(),
            problem: z.string(),
            event_number: z.int().min(1).nullable(),
          }),
        ),
        next_step: text,
      }),
    ),
    balances: z.array(
      z.strictObject({
        account: z.string(),
        currency,
        balance: z
          .string()
          .regex(/^-?\d+$/)
          .describe('A text: a sum beyond exact integers is reported, not refused.'),
      }),
    ),
  })
  .meta({ id: 'Verification' });

const chainReport = z
  .strictObject({
    mode: z.literal('chain'),
    passed: z.boolean(),
    seconds,
    transfers_checked: count,
    failures: count,
    offenders: z.array(z.strictObject({ subject: z.string(), problem: z.string() })),
    last_head: chainHead.nullable(),
    expected_public_key: digest.nullable(),
    unchained_transfers: count,
    unchained_oldest_age_seconds: seconds,
    server_changes: z.array(
      z.strictObject({ block: z.int().min(1), history: z.string(), chained_at: time }),
    ),
    compared_head: z
      .strictObject({ head: z.string(), outcome: z.string(), explanation: z.string() })
      .nullable(),
  })
  .meta({ id: 'ChainReport' });

export const verified = z.union([verification, chainReport]);

const archivedClass = z
  .strictObject({
    class: z.string(),
    batches: count,
    rows: count,
    removed: count,
    bytes: count,
    first_removed_at: time,
    last_removed_at: time,
  })
  .meta({ id: 'ArchivedClass' });

const archivedBatch = z
  .strictObject({
    name: z.string(),
    class: z.string(),
    rows: count,
    removed: count,
    files: count,
    bytes: count,
    manifest_sha256: digest,
    removed_at: time,
  })
  .meta({ id: 'ArchivedBatch' });

export const archived = z.union([
  z.strictObject({ classes: z.array(archivedClass) }).meta({ id: 'ArchivedClasses' }),
  z
    .strictObject({ batches: z.array(archivedBatch), next_cursor: text })
    .meta({ id: 'ArchivedBatches', description: 'With `--class`.' }),
]);

export const archiveReport = z
  .strictObject({
    batches: count,
    rows: count,
    bytes: count,
    not_removed: count.describe('Batches that are archived, and of which nothing was removed.'),
    problems: count,
    examples: z.array(z.strictObject({ batch: z.string(), problem: z.string() })),
    incomplete_parts: count,
    incomplete_examples: z.array(z.string()),
  })
  .meta({ id: 'ArchiveReport' });

export const imported = z
  .strictObject({ read: count.describe('Rows.'), stored: count })
  .meta({ id: 'ImportedRows' });

const unit = z.enum(['rows', 'days']);

export const retentionPlan = z
  .strictObject({
    next_run_at: time,
    classes: z.array(
      z.strictObject({
        class: z.string(),
        table: z.string(),
        days: count.nullable().describe('Null: never removed.'),
        rows: count,
        rows_are_estimated: z.boolean(),
        bytes: count,
        oldest_at: optionalTime,
        removable: count,
        more_removable: z.boolean(),
        waiting_days: count,
        removed_rows: count,
        unit,
        caught_up_seconds_ago: count.nullable(),
      }),
    ),
  })
  .meta({ id: 'RetentionPlan' });

export const removed = z
  .strictObject({
    classes: z.array(
      z.strictObject({ class: z.string(), removed_rows: count, unit, done: z.boolean() }),
    ),
  })
  .meta({ id: 'RemovedRows' });

/** Times of a balance that the API does not take. */
export const balanceTimes = { as_of: optionalTime, known_at: optionalTime };

const importedFile = {
  file: z.int().min(1),
  source: z.string(),
  format: z.string(),
  name: z.string(),
  digest: z.string(),
  lines: count,
  new_lines: count,
  ignored: count,
  unmatched: count,
  imported_at: time,
  imported_by: z.string(),
};

const nextCursor = text.describe('Give it as `--cursor`; null on the last page.');

export const settlementFiles = z
  .strictObject({
    files: z.array(z.strictObject(importedFile).meta({ id: 'SettlementFile' })),
    next_cursor: nextCursor,
  })
  .meta({ id: 'SettlementFiles' });

const settlementLine = z
  .strictObject({
    line: z.int().min(1),
    file: z.int().min(1),
    file_line: z.int().min(1),
    type: z.string(),
    settlement: text,
    settlement_number: z.int().min(1).nullable(),
    reference: text,
    line_reference: text,
    day: z.string(),
    currency,
    amount_gross: z.int(),
    amount_fee: z.int(),
    text,
    match: z
      .strictObject({
        target: z.string(),
        rule: z.string(),
        reason: z.string(),
        written_off: z.int(),
        matched_by: text,
        matched_at: optionalTime,
      })
      .nullable(),
  })
  .meta({ id: 'SettlementLine' });

export const settlementFile = z
  .strictObject({ ...importedFile, added: z.array(settlementLine), next_cursor: nextCursor })
  .meta({ id: 'SettlementFileWithLines' });

export const settlementImport = z
  .union([
    z
      .strictObject({
        outcome: z.literal('examined'),
        digest: z.string(),
        lines: count,
        ignored: count,
        currencies: z.array(
          z.strictObject({
            currency,
            lines: count,
            amount_gross: z.int(),
            amount_fee: z.int(),
          }),
        ),
      })
      .describe('With `--dry-run`.'),
    z.strictObject({ outcome: z.literal('known'), file: z.int().min(1), matched: count }),
    z.strictObject({
      outcome: z.literal('imported'),
      file: z.int().min(1),
      lines: count,
      new_lines: count,
      ignored: count,
      matched: count,
      transfers: count,
    }),
  ])
  .meta({ id: 'SettlementImport' });

export const unmatchedLines = z
  .strictObject({
    clearing: z.array(
      z.strictObject({
        currency,
        balance: z.int(),
        parts: z.array(
          z.strictObject({
            part: z.string(),
            meaning: z.string(),
            items: count,
            amount: z.int(),
            since: time,
          }),
        ),
      }),
    ),
    unmatched: z.array(
      z.strictObject({
        part: z.string(),
        subject: z.string(),
        reference: text,
        currency,
        amount: z.int(),
        since: time,
      }),
    ),
    next_cursor: nextCursor,
  })
  .meta({ id: 'UnmatchedInClearing' });

export const matchedLine = z
  .strictObject({
    line: z.int().min(1),
    outcome: z.literal('matched'),
    written_off: z.int(),
    currency,
    transfers: count,
  })
  .meta({ id: 'MatchedLine' });

export const unmatchedLine = z
  .strictObject({ line: z.int().min(1), outcome: z.literal('unmatched'), transfers: count })
  .meta({ id: 'UnmatchedLine' });
