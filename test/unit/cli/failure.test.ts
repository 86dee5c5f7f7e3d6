import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { failureJson } from '../../../src/cli/failure.ts';
import { NotFoundError } from '../../../src/platform/errors.ts';

test.each([
  ['the driver', new Error('Connection terminated unexpectedly')],
  ['the network', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
  ['PostgreSQL', Object.assign(new Error('shutting down'), { code: '57P01' })],
])('a database that %s reports as unavailable ends a command as unavailable', (_, error) => {
  expect(failureJson(error).error).toMatchObject({ class: 'unavailable', type: 'api_error' });
});

test('an error of a command keeps its class, and any other is unexpected', () => {
  const invalid = new CommanderError(1, 'commander.unknownOption', "error: unknown option '--no'");
  expect(failureJson(invalid).error).toMatchObject({
    class: 'usage',
    message: "unknown option '--no'",
  });
  expect(failureJson(new NotFoundError('no such event')).error.class).toBe('not_found');
  expect(failureJson(new Error('no such column')).error.class).toBe('unexpected');
});
