/**
 * Whether the service's business profiles send webhooks here, signed as they are verified here. The
 * names are the family's; see docs/decisions/0015.
 *
 * *Profiles in question*: the one that PAYMENTS_PROFILE_ID names, else all of the account's, because
 * the books are the account's.
 *
 * 1. What the service does not show is said to be unchecked; it neither passes nor fails.
 * 2. Of several profiles the worst is the judgement, and each is spoken of by its id.
 * 3. No secret comes here, only how it compared. Of an address nothing is said but where it leads:
 *    its user, password and query may be secrets.
 */
import type { BusinessProfile } from '../../contract/resources/businessProfile.ts';
import { bad, type Judgement, ok } from './judge.ts';

const failed = bad('failed');
const warning = bad('warning');
const notChecked = bad('not_checked');

/** What was seen of one profile. */
export interface ProfileFacts {
  readonly profileId: string;
  readonly details: BusinessProfile['webhook_details'];
  readonly secret: SecretComparison;
}

/**
 * How a profile's secret compares with ours: its place among them from 1, or `other`. `hidden` where
 * the service does not show it.
 */
export type SecretComparison = number | 'other' | 'hidden';

/** What the service answered when it was asked for its profiles. */
export type ProfilesAnswer =
  | { readonly kind: 'profiles'; readonly profiles: readonly ProfileFacts[] }
  /** 404: no such account, or no such endpoint. */
  | { readonly kind: 'absent' }
  /** `reason` is free of secrets. */
  | { readonly kind: 'unasked'; readonly reason: string; readonly remedy: string };

/** Where we expect webhooks. */
export interface OurReceiver {
  readonly webhookPath: string;
  /** The whole address, where it is known. */
  readonly publicUrl: string | undefined;
}

/** The profiles in question, or what there is to say instead. */
export type Chosen =
  | { readonly chosen: readonly ProfileFacts[]; readonly judgement: Judgement }
  | { readonly chosen: undefined; readonly judgement: Judgement };

/** Finds the profiles in question. @param wanted PAYMENTS_PROFILE_ID, if it is set */
export function chooseProfiles(
  answer: ProfilesAnswer,
  wanted: string | undefined,
  { webhookPath }: OurReceiver,
): Chosen {
  switch (answer.kind) {
    case 'unasked':
      return { chosen: undefined, judgement: notChecked(answer.reason, answer.remedy) };
    case 'absent':
      return {
        chosen: undefined,
        judgement: notChecked(
          'the service shows no business profiles of this account (HTTP 404)',
          'Check PAYMENTS_MERCHANT_ID. If the service has no such endpoint, look at its dashboard: ' +
            `the webhook address must end in ${webhookPath}, and its secret be one of WEBHOOK_SECRETS.`,
        ),
      };
    case 'profiles':
      return chooseAmong(answer.profiles, wanted);
  }
}

function chooseAmong(profiles: readonly ProfileFacts[], wanted: string | undefined): Chosen {
  const chosen = profiles.filter(({ profileId }) => (wanted ?? profileId) === profileId);
  if (chosen.length > 0) return { chosen, judgement: ok(idsOf(chosen)) };
  const judgement =
    profiles.length === 0
      ? failed(
          'the account has none, so no webhook is sent',
          'Make a business profile with the service, with the address of this receiver.',
        )
      : failed(
          `the account has no profile ${wanted}; it has ${idsOf(profiles)}`,
          'Set PAYMENTS_PROFILE_ID to one of these, or leave it out to have all of them looked at.',
        );
  return { chosen: undefined, judgement };
}

const MAX_IDS = 5;

function idsOf(profiles: readonly ProfileFacts[]): string {
  const more = profiles.length > MAX_IDS ? ` and ${profiles.length - MAX_IDS} more` : '';
  return `${profiles
    .slice(0, MAX_IDS)
    .map(({ profileId }) => profileId)
    .join(', ')}${more}`;
}

/** Judges where webhooks go. Only the path can be compared where our address is not known. */
export function judgeAddresses(
  profiles: readonly ProfileFacts[],
  receiver: OurReceiver,
): Judgement {
  return worst(profiles.map((profile) => judgeAddress(profile, receiver)));
}

function judgeAddress(
  { profileId, details }: ProfileFacts,
  { webhookPath, publicUrl }: OurReceiver,
): Judgement {
  const told = details?.webhook_url ?? '';
  const ours =
    publicUrl === undefined
      ? `the address of this receiver, ending in ${webhookPath}`
      : placeOf(new URL(publicUrl));
  const remedy = `Set the webhook address of ${profileId} at the service to ${ours}.`;
  if (told === '') return failed(`${profileId} has no address, so no webhook is sent`, remedy);
  if (!URL.canParse(told)) return failed(`${profileId} has an address that is none`, remedy);
  const url = new URL(told);
  const shown = `${profileId} sends webhooks to ${placeOf(url)}`;
  if (publicUrl !== undefined) {
    const same = placeOf(url) === placeOf(new URL(publicUrl));
    return same ? ok(`${shown}, which is this receiver's`) : failed(shown, remedy);
  }
  if (url.pathname === webhookPath) {
    return ok(`${shown}: the path is this receiver's; set WEBHOOK_PUBLIC_URL to compare the rest`);
  }
  return warning(
    `${shown}, and this receiver's path is ${webhookPath}`,
    `${remedy} If a proxy turns one path into the other, set WEBHOOK_PUBLIC_URL to the address outside.`,
  );
}

function placeOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** Judges what webhooks are signed with. service-interface.md §5.4. */
export function judgeSecrets(profiles: readonly ProfileFacts[]): Judgement {
  return worst(profiles.map(judgeSecret));
}

function judgeSecret({ profileId, secret }: ProfileFacts): Judgement {
  switch (secret) {
    case 'hidden':
      return notChecked(
        `the service does not show the secret of ${profileId}`,
        'Compare it with WEBHOOK_SECRETS where the service shows it, for example in its dashboard.',
      );
    case 'other':
      return failed(
        `${profileId} signs with a secret that is not among WEBHOOK_SECRETS: its webhooks are refused`,
        `Put the signing secret of ${profileId} (payment_response_hash_key) in front of WEBHOOK_SECRETS, and restart.`,
      );
    default:
      return ok(`${profileId} signs with secret ${secret} of WEBHOOK_SECRETS`);
  }
}

/** Judges which events are sent at all. What is not sent is found later, when the service is asked. */
export function judgeEvents(profiles: readonly ProfileFacts[]): Judgement {
  return worst(profiles.map(judgeEventsOf));
}

function judgeEventsOf({ profileId, details }: ProfileFacts): Judgement {
  const off = SWITCHES.filter((name) => details?.[name] === false);
  const limited = LISTS.filter((name) => (details?.[name] ?? []).length > 0);
  const said = [...off.map((name) => `${name} is off`), ...limited.map((name) => `${name} is set`)];
  if (said.length === 0) return ok(`${profileId} leaves no event out`);
  return warning(
    `${profileId} does not send every event: ${said.join(', ')}`,
    `Switch all events on for ${profileId} at the service. Until then the rest is learned only when the service is asked.`,
  );
}

const SWITCHES = [
  'payment_created_enabled',
  'payment_succeeded_enabled',
  'payment_failed_enabled',
] as const;

/** A list that is set names the only statuses that are told. */
const LISTS = [
  'payment_statuses_enabled',
  'refund_statuses_enabled',
  'payout_statuses_enabled',
] as const;

const WORST_FIRST = ['failed', 'warning', 'not_checked', 'ok'] as const;

/** @param judgements at least one */
function worst(judgements: readonly Judgement[]): Judgement {
  const sorted = judgements.toSorted(
    (a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state),
  );
  const remedies = sorted.flatMap(({ remedy }) => remedy ?? []);
  return {
    state: sorted[0]?.state ?? 'not_checked',
    result: sorted.map(({ result }) => result).join('\n'),
    remedy: remedies.length === 0 ? null : remedies.join(' '),
  };
}
