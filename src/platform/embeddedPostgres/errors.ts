import { OperatorError, type ProblemClass } from '../errors.ts';

/** The cases that a caller can distinguish. */
export type EmbeddedPostgresErrorCode =
  | 'not_installed'
  | 'unsupported_platform'
  | 'binaries_damaged'
  | 'no_usable_account'
  | 'folder_not_accessible'
  | 'initdb_failed'
  | 'not_a_cluster'
  | 'other_major_version'
  | 'wrong_password'
  | 'folder_busy'
  | 'start_failed'
  | 'no_response'
  | 'server_lost'
  | 'stop_failed';

const PROBLEMS: Partial<Record<EmbeddedPostgresErrorCode, ProblemClass>> = {
  // Setting DATABASE_URL is what helps.
  not_installed: 'usage',
  no_response: 'unavailable',
};

export class EmbeddedPostgresError extends OperatorError {
  readonly code: EmbeddedPostgresErrorCode;
  override readonly problem: ProblemClass;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.problem = PROBLEMS[code] ?? 'refused';
  }
}

/** The last lines of a program's output, which have the reason for a failure. */
export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-15).join('\n');
}
