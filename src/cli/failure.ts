/**
 * How a command that fails ends. People get a text on standard error; with `--json`, programs get one JSON
 * document on standard output as well, in the form that errors of the admin API have.
 */
import { CommanderError } from 'commander';
import { z } from 'zod';
import { ERROR_TYPES, type ErrorType } from '../contract/errors.ts';
import { isDatabaseUnavailable } from '../platform/db/failures.ts';
import { OperatorError, toError } from '../platform/errors.ts';
import { type Ending, EXIT_CODES } from './exitCodes.ts';

const FAILURE_CLASSES = [
  'usage',
  'not_found',
  'refused',
  'unavailable',
  'unknown',
  'unexpected',
] as const satisfies readonly Ending[];
type FailureClass = (typeof FAILURE_CLASSES)[number];

/** What `--json` prints of an error. */
export const failureSchema = z
  .strictObject({
    error: z.strictObject({
      type: z.enum(ERROR_TYPES).describe('As in the admin API.'),
      code: z.string().describe('As in the admin API.'),
      message: z.string().describe('For people, as on standard error. Its wording may change.'),
      class: z.enum(FAILURE_CLASSES).describe('What kind of failure it is, for programs.'),
      exit_code: z.int().describe('The exit code of the command.'),
    }),
  })
  .meta({
    title: 'Error of a command',
    description: 'What a command prints to standard output if it fails and --json is given.',
  });
export type FailureJson = z.infer<typeof failureSchema>;

const ENVELOPES: Readonly<Record<FailureClass, { type: ErrorType; code: string }>> = {
  usage: { type: 'invalid_request', code: 'IR_04' },
  not_found: { type: 'invalid_request', code: 'IR_05' },
  refused: { type: 'invalid_request', code: 'IR_04' },
  unavailable: { type: 'api_error', code: 'HE_00' },
  unknown: { type: 'api_error', code: 'HE_00' },
  unexpected: { type: 'api_error', code: 'HE_00' },
};

export function classOf(thrown: unknown): FailureClass {
  if (thrown instanceof OperatorError) return thrown.problem;
  if (thrown instanceof CommanderError) return 'usage';
  return isDatabaseUnavailable(thrown) ? 'unavailable' : 'unexpected';
}

export function failureJson(thrown: unknown): FailureJson {
  const failure = classOf(thrown);
  const { code: exitCode } = EXIT_CODES[failure];
  return {
    error: {
      ...ENVELOPES[failure],
      message: messageOf(thrown),
      class: failure,
      exit_code: exitCode,
    },
  };
}

/** Commander throws this where it prints the help because the name of a command is missing. */
const HELP_INSTEAD = 'commander.help';

function messageOf(thrown: unknown): string {
  const { message } = toError(thrown);
  if (!(thrown instanceof CommanderError)) return message;
  return thrown.code === HELP_INSTEAD
    ? 'The name of a command is missing; --help lists them'
    : message.replace(/^error: /, '');
}

/** Whether the caller wants JSON: also known where the arguments are not valid. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes('--json');
}
