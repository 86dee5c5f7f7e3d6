/**
 * Whether the webhooks that the sandbox sent last have arrived in the inbox. Settings can agree while the
 * receiver was started with others, so only a delivery proves the channel.
 *
 * 1. The last delivery decides. One that failed after others arrived is a warning: faults of the sandbox
 *    and restarts of the receiver cause it, too.
 * 2. An acknowledgment without the event in the inbox is a failure: another program has it.
 */
import { failed, type Judgment, notChecked, ok, warning } from './judge.ts';

/** A delivery that the sandbox sent. */
export interface SentDelivery {
  readonly eventId: string;
  /** By the clock of the sandbox. */
  readonly sentAt: string;
  /** Null: there was no response. */
  readonly httpStatus: number | null;
}

/**
 * @param last the deliveries that were sent last, newest first
 * @param isInInbox whether the inbox has the event of the newest; undefined if the database cannot be read
 */
export function judgeDeliveries(
  last: readonly SentDelivery[],
  isInInbox: boolean | undefined,
): Judgment {
  const [newest] = last;
  if (newest === undefined) return notChecked('the sandbox has sent no webhook yet', TRY);
  const which = `the last webhook of the sandbox (${newest.eventId}, ${newest.sentAt})`;
  if (!isAcknowledged(newest)) {
    const acknowledged = last.filter(isAcknowledged).length;
    const judge = acknowledged > 0 ? warning : failed;
    const others =
      last.length > 1 ? `; ${acknowledged} of the last ${last.length} were acknowledged` : '';
    const { reason, remedy } = causeOf(newest.httpStatus);
    return judge(`${which} was not acknowledged: ${reason}${others}`, `${remedy} ${TRY}`);
  }
  if (isInInbox === undefined) {
    return notChecked(
      `${which} was acknowledged, and the inbox cannot be read`,
      'Fix the database check first.',
    );
  }
  return isInInbox
    ? ok(`${which} is in the inbox`)
    : failed(
        `${which} was acknowledged and is not in the inbox: another program received it, or a receiver of another database`,
        `${SAME_ADDRESS} ${TRY}`,
      );
}

function isAcknowledged({ httpStatus }: SentDelivery): boolean {
  return httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
}

const TRY = 'Run `npx tallyhook trigger payment_succeeded`; then check again.';
const SAME_ADDRESS =
  'Start receiver and sandbox with the same HOST, PORT, WEBHOOK_PATH and DATABASE_URL.';

function causeOf(httpStatus: number | null): { readonly reason: string; readonly remedy: string } {
  switch (httpStatus) {
    case null:
      return {
        reason: 'no response',
        remedy: `Start the receiver if it does not run. ${SAME_ADDRESS}`,
      };
    case 401:
      return {
        reason: 'the receiver knows no secret that matches its signature (HTTP 401)',
        remedy:
          'Set SANDBOX_WEBHOOK_SECRET to one value for the receiver and the sandbox, and restart both.',
      };
    case 404:
      return { reason: 'nothing receives webhooks at that path (HTTP 404)', remedy: SAME_ADDRESS };
    default:
      return {
        reason: `HTTP ${httpStatus}`,
        remedy: "Read the receiver's log at that time, and `npx tallyhook processes`.",
      };
  }
}
