/**
 * Whether the service's business profiles send webhooks to this receiver, signed with a known secret.
 * See docs/decisions/0015 for the field names.
 *
 * *Selected profiles*: the one in PAYMENTS_PROFILE_ID, else every profile of the account, because the
 * ledger belongs to the account.
 *
 * 1. What the service does not show is reported as not checked; it neither passes nor fails.
 * 2. Of several profiles the worst decides, and each is named by its id.
 * 3. No secret is passed in, only how it compared. Of an address only origin and path are reported:
 *    its user, password and query may be secrets.
 */
import type { BusinessProfile } from '../../contract/resources/businessProfile.ts';
import { failed, type Judgment, notChecked, ok, warning } from './judge.ts';

/** The facts about one profile. */
export interface ProfileFacts {
  readonly profileId: string;
  readonly details: BusinessProfile['webhook_details'];
  readonly secret: SecretComparison;
}

/**
 * How a profile's secret compares with WEBHOOK_SECRETS: its position from 1, or `other`. `hidden` if the
 * service does not show it.
 */
export type SecretComparison = number | 'other' | 'hidden';

/** The result of listing the profiles. */
export type ProfilesResult =
  | { readonly kind: 'profiles'; readonly profiles: readonly ProfileFacts[] }
  /** 404: no such account, or no such endpoint. */
  | { readonly kind: 'absent' }
  /** `reason` contains no secret. */
  | { readonly kind: 'not_requested'; readonly reason: string; readonly remedy: string };

/** Where this installation receives webhooks. */
export interface OurReceiver {
  readonly webhookPath: string;
  /** The full address, if known. */
  readonly publicUrl: string | undefined;
}

/** The selected profiles, or why there are none. */
export type Chosen =
  | { readonly chosen: readonly ProfileFacts[]; readonly judgment: Judgment }
  | { readonly chosen: undefined; readonly judgment: Judgment };

/** Selects the profiles. @param wanted PAYMENTS_PROFILE_ID, if it is set */
export function chooseProfiles(
  listed: ProfilesResult,
  wanted: string | undefined,
  { webhookPath }: OurReceiver,
): Chosen {
  switch (listed.kind) {
    case 'not_requested':
      return { chosen: undefined, judgment: notChecked(listed.reason, listed.remedy) };
    case 'absent':
      return {
        chosen: undefined,
        judgment: notChecked(
          'the service shows no business profiles of this account (HTTP 404)',
          'Check PAYMENTS_MERCHANT_ID. If the service has no such endpoint, check its dashboard: ' +
            `the webhook address must end in ${webhookPath}, and its secret must be one of WEBHOOK_SECRETS.`,
        ),
      };
    case 'profiles':
      return chooseAmong(listed.profiles, wanted);
  }
}

function chooseAmong(profiles: readonly ProfileFacts[], wanted: string | undefined): Chosen {
  const chosen = profiles.filter(({ profileId }) => (wanted ?? profileId) === profileId);
  if (chosen.length > 0) return { chosen, judgment: ok(idsOf(chosen)) };
  const judgment =
    profiles.length === 0
      ? failed(
          'the account has no profile, so no webhook is sent',
          'Create a business profile at the service with the address of this receiver.',
        )
      : failed(
          `the account has no profile ${wanted}; it has ${idsOf(profiles)}`,
          'Set PAYMENTS_PROFILE_ID to one of these, or unset it to check all of them.',
        );
  return { chosen: undefined, judgment };
}

const MAX_IDS = 5;

function idsOf(profiles: readonly ProfileFacts[]): string {
  const more = profiles.length > MAX_IDS ? ` and ${profiles.length - MAX_IDS} more` : '';
  return `${profiles
    .slice(0, MAX_IDS)
    .map(({ profileId }) => profileId)
    .join(', ')}${more}`;
}

/** Judges where webhooks are sent. Only the path is compared if the full address is unknown. */
export function judgeAddresses(profiles: readonly ProfileFacts[], receiver: OurReceiver): Judgment {
  return worst(profiles.map((profile) => judgeAddress(profile, receiver)));
}

function judgeAddress(
  { profileId, details }: ProfileFacts,
  { webhookPath, publicUrl }: OurReceiver,
): Judgment {
  const configured = details?.webhook_url ?? '';
  const ours =
    publicUrl === undefined
      ? `the address of this receiver, ending in ${webhookPath}`
      : placeOf(new URL(publicUrl));
  const remedy = `Set the webhook address of ${profileId} at the service to ${ours}.`;
  if (configured === '')
    return failed(`${profileId} has no address, so no webhook is sent`, remedy);
  if (!URL.canParse(configured)) return failed(`${profileId} has an invalid address`, remedy);
  const url = new URL(configured);
  const shown = `${profileId} sends webhooks to ${placeOf(url)}`;
  if (publicUrl !== undefined) {
    const same = placeOf(url) === placeOf(new URL(publicUrl));
    return same ? ok(`${shown}, which is this receiver`) : failed(shown, remedy);
  }
  if (url.pathname === webhookPath) {
    return ok(
      `${shown}: the path matches this receiver; set WEBHOOK_PUBLIC_URL to compare the full address`,
    );
  }
  return warning(
    `${shown}, and this receiver's path is ${webhookPath}`,
    `${remedy} If a proxy maps one path to the other, set WEBHOOK_PUBLIC_URL to the public address.`,
  );
}

function placeOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** Judges the secret that signs webhooks. service-interface.md §5.4. */
export function judgeSecrets(
  profiles: readonly ProfileFacts[],
  signer: 'service' | 'sandbox',
): Judgment {
  return worst(profiles.map((profile) => judgeSecret(profile, signer)));
}

function judgeSecret({ profileId, secret }: ProfileFacts, signer: 'service' | 'sandbox'): Judgment {
  switch (secret) {
    case 'hidden':
      return notChecked(
        `the service does not show the secret of ${profileId}`,
        'Compare it with WEBHOOK_SECRETS yourself, for example in the dashboard of the service.',
      );
    case 'other':
      if (signer === 'sandbox') {
        return failed(
          `the sandbox (${profileId}) signs with a secret that the receiver does not know: its webhooks are rejected`,
          'Set SANDBOX_WEBHOOK_SECRET to one value for the receiver and the sandbox, and restart both.',
        );
      }
      return failed(
        `${profileId} signs with a secret that is not among WEBHOOK_SECRETS: its webhooks are rejected`,
        `Add the signing secret of ${profileId} (payment_response_hash_key) as the first of WEBHOOK_SECRETS, and restart.`,
      );
    default:
      return ok(`${profileId} signs with secret ${secret} of WEBHOOK_SECRETS`);
  }
}

/** Judges which events are sent. Reconciliation finds later what no event reports. */
export function judgeEvents(profiles: readonly ProfileFacts[]): Judgment {
  return worst(profiles.map(judgeEventsOf));
}

function judgeEventsOf({ profileId, details }: ProfileFacts): Judgment {
  const off = SWITCHES.filter((name) => details?.[name] === false);
  const limited = LISTS.filter((name) => (details?.[name] ?? []).length > 0);
  const restrictions = [
    ...off.map((name) => `${name} is off`),
    ...limited.map((name) => `${name} is set`),
  ];
  if (restrictions.length === 0) return ok(`${profileId} sends every event`);
  return warning(
    `${profileId} does not send every event: ${restrictions.join(', ')}`,
    `Enable all events for ${profileId} at the service. Until then, only reconciliation finds the other changes.`,
  );
}

const SWITCHES = [
  'payment_created_enabled',
  'payment_succeeded_enabled',
  'payment_failed_enabled',
] as const;

/** A list that is set restricts events to its statuses. */
const LISTS = [
  'payment_statuses_enabled',
  'refund_statuses_enabled',
  'payout_statuses_enabled',
] as const;

const WORST_FIRST = ['failed', 'warning', 'not_checked', 'ok'] as const;

/** @param judgments at least one */
function worst(judgments: readonly Judgment[]): Judgment {
  const sorted = judgments.toSorted(
    (a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state),
  );
  const remedies = sorted.flatMap(({ remedy }) => remedy ?? []);
  return {
    state: sorted[0]?.state ?? 'not_checked',
    result: sorted.map(({ result }) => result).join('\n'),
    remedy: remedies.length === 0 ? null : remedies.join(' '),
  };
}
