/**
 * Checks every statement of docs/service-interface.md against the service: over HTTP, through the
 * client, and through the code that signs and verifies. The statements are data, in `statements/`;
 * docs/interface-coverage.md is generated from them.
 *
 * The sandbox is tested, regardless of CONFORMANCE_BASE_URL: nearly every check acts as the bank.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isInMemory } from '../support/sandbox.ts';
import {
  checkAccepts,
  checkAllowsWithout,
  checkDecline,
  checkRefuses,
  checkRequires,
  checkResponse,
  checkRoute,
} from './checks/generic.ts';
import { RECEIVER } from './checks/scenarios/events.ts';
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
    case 'response':
      return checkResponse(service, checked);
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

/** Several statements may name one scenario: it runs once, and each of them has its outcome. */
function scenario(name: string): Promise<void> {
  const run = SCENARIOS[name];
  if (run === undefined) throw new Error(`no scenario is called ${name}`);
  return service.once(`scenario ${name}`, async () => run(service));
}

const needsReceiver = (checked: Check): boolean =>
  checked.by === 'scenario' && checked.name in RECEIVER;

const REFUSALS: readonly Check['by'][] = ['refuses', 'requires'];

/**
 * The run in memory has no database for a receiver. The run with a database leaves out requests that are refused for a
 * field: nothing is stored, and the same code refuses them with each store. The run in memory takes less time for them.
 */
const isOfRun = (checked: Check, inMemory: boolean): boolean =>
  inMemory ? !needsReceiver(checked) : !REFUSALS.includes(checked.by);

const testable = STATEMENTS.filter(({ check: { by } }) => by !== 'nothing');
const tested = testable.filter((statement) => isOfRun(statement.check, isInMemory));
const sections = [...new Set(tested.map(({ section }) => section))];

const titleOf = ({ kind, text }: Statement): string => `${kind}: ${text}`;

for (const name of sections) {
  describe(`§${name}`, () => {
    for (const statement of tested.filter(({ section }) => section === name)) {
      test(titleOf(statement), () => check(statement.check));
    }
  });
}

test('every statement that can be checked is of one of the two runs', () => {
  const ofNone = testable.filter(({ check: checked }) =>
    [true, false].every((inMemory) => !isOfRun(checked, inMemory)),
  );
  expect(ofNone.map(titleOf)).toEqual([]);
});

test('every scenario belongs to a statement', () => {
  const named = new Set(
    STATEMENTS.flatMap(({ check: checked }) => (checked.by === 'scenario' ? [checked.name] : [])),
  );
  expect(Object.keys(SCENARIOS).filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => !(name in SCENARIOS))).toEqual([]);
});
