/** What the sandbox needs of a log; the platform's has it. */
type LogLine = (facts: object, event: string) => void;

export interface SandboxLog {
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}
