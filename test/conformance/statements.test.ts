/**
 * Holds the service against the interface document, statement by statement: over HTTP, through the
 * client, and through the code that signs and verifies. The statements are data, in `statements/`;
 * docs/interface-coverage.md is generated from them.
 *
 * The sandbox is judged, whatever CONFORMANCE_BASE_URL says: nearly every check plays the bank.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  checkAccepts,
  checkAllowsWithout,
  checkAnswer,
  checkDecline,
  checkRefuses,
  checkRequires,
  checkRoute,
} from './checks/generic.ts';
import { SCENARIOS } from './checks/scenarios/index.ts';
import { openService, type Service } from './checks/service.ts';
import { type Check, STATEMENTS, type Statement } from './statements/index.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

function check(checked: Check): Promise<void> {
  switch (checked.by) {
    case 'answer':
      return checkAnswer(service, checked);
    case 'accepts':
      return checkAccepts(service, checked);
    case 'refuses':
      return checkRefuses(service, checked);
    case 'requires':
      return checkRequires(service, checked);
    case 'allowsWithout':
      return checkAllowsWithout(service, checked);
    case 'route':
      return checkRoute(service, checked);
    case 'decline':
      return checkDecline(service, checked);
    case 'scenario':
      return scenario(checked.name);
    case 'nothing':
      throw new Error('nothing can be checked here');
  }
}

/** Several statements may name one scenario: it is run once, and each of them has its outcome. */
function scenario(name: string): Promise<void> {
  const run = SCENARIOS[name];
  if (run === undefined) throw new Error(`no scenario is called ${name}`);
  return service.once(`scenario ${name}`, async () => run(service));
}

const testable = STATEMENTS.filter(({ check: { by } }) => by !== 'nothing');
const sections = [...new Set(testable.map(({ section }) => section))];

/** Statements that do not hold yet. */
const KNOWN_FAILURES: ReadonlySet<string> = new Set([
  'line 23, rule: Every amount in every answer and event is an integer.',
  'line 23, rule: A currency that ISO 4217 does not list is refused on payments.',
  'line 23, rule: A currency that ISO 4217 does not list is refused on payouts.',
  'line 23, rule: A currency that ISO 4217 does not list is refused on payment links.',
  'line 24, rule: PUT replaces: fields that are not sent go.',
  'line 104, default: The address is the billing of a payment by card that sends none.',
  'line 114, type: A dispute has its amount as an integer, like every amount.',
  'line 197, value: A currency that ISO 4217 does not list is refused.',
  'line 203, value: Another word as `authentication_type` is not refused: the set is open.',
  'line 206, value: Another word as `payment_method` is not refused: the set is open.',
  'line 213, rule: Card data in metadata is not kept.',
  'line 214, value: `customer_acceptance` is accepted in any form: its fields are not named.',
  'line 295, rule: An id of any printable form is accepted: the document sets none.',
  'line 356, field: Create Payout accepts `customer.document_details`.',
  'line 369, field: Create Payout accepts `session_expiry`, and the answer shows it.',
  'line 371, field: Create Payout accepts `payout_link_config`.',
  'line 349, value: A currency that ISO 4217 does not list is refused.',
  'line 369, rule: A session ends after `session_expiry` seconds.',
  'line 371, value: `payout_link_config` is accepted in any form: its fields are not named.',
  'line 407, value: Another word as `granularity` is not refused: the set is open.',
  'line 439, rule: PUT replaces a payout: fields that are not sent go.',
  'line 465, event: A second change to the same status is told of, too.',
  'line 465, event: A second partial capture is told of.',
  'line 465, event: A payout that turns out ineligible is told of.',
  'line 512, value: `processing_error` is a type.',
  'line 523, error: PE_01, of type processing_error: the card was declined.',
  'line 524, error: PE_02, of type processing_error: the funds do not suffice.',
  'line 525, error: PE_03, of type processing_error: the card has expired.',
  'line 625, rule: A capture is retried after a 5xx once a retrieval shows that nothing was captured.',
  'line 640, header: A 401 tells them, too.',
  'line 640, header: A 404 of a route that does not exist tells them, too.',
]);

const titleOf = ({ line, kind, says }: Statement): string => `line ${line}, ${kind}: ${says}`;

for (const name of sections) {
  describe(name, () => {
    for (const statement of testable.filter(({ section }) => section === name)) {
      const title = titleOf(statement);
      const isKnown = KNOWN_FAILURES.has(title);
      (isKnown ? test.fails : test)(title, () => check(statement.check));
    }
  });
}

test('every scenario belongs to a statement', () => {
  const named = new Set(
    STATEMENTS.flatMap(({ check: checked }) => (checked.by === 'scenario' ? [checked.name] : [])),
  );
  expect(Object.keys(SCENARIOS).filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => !(name in SCENARIOS))).toEqual([]);
});
