/**
 * Statements about the service, and the tables that declare them.
 *
 * A statement is one claim of docs/service-interface.md that a test can check against a service, with
 * the number of its section. The data in this folder was written by hand. It must not be derived from
 * `src/contract`: that is the code under test.
 *
 * 1. Every row of a table is at least one statement, and so is every value of an enumeration.
 * 2. A statement names its check. What the contract leaves open has the check `nothing` and a reason,
 *    so that the totals do not overstate the coverage.
 */

/** What a statement is about. */
export type Kind =
  | 'auth'
  | 'decline code'
  | 'default'
  | 'endpoint'
  | 'error'
  | 'event'
  | 'field'
  | 'header'
  | 'limit'
  | 'need'
  | 'open'
  | 'rule'
  | 'status'
  | 'transition'
  | 'type'
  | 'value'
  | 'versioning';

/** The form of a JSON value. `a|null` may also be null; `timestamp` is text in ISO 8601. */
export type JsonType =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'object'
  | 'array'
  | 'timestamp'
  | 'string|null'
  | 'object|null'
  | 'timestamp|null'
  | 'any|null';

/** How a statement is checked. The names are those of `../checks`. */
export type Check =
  /** The JSON of a sample has the field, in this form, and with this value if one is given. */
  | {
      readonly by: 'response';
      readonly sample: string;
      readonly path: string;
      readonly is?: JsonType;
      readonly equals?: unknown;
    }
  /** A request is accepted with the field, and the response shows it where `shownAt` requires it. */
  | {
      readonly by: 'accepts';
      readonly request: string;
      readonly path: string;
      readonly value: unknown;
      readonly shownAt?: string;
    }
  /** A request is rejected with IR_04 when the field has this value. */
  | {
      readonly by: 'refuses';
      readonly request: string;
      readonly path: string;
      readonly value: unknown;
    }
  /** A request without the field is rejected with IR_01, or accepted. */
  | { readonly by: 'requires'; readonly request: string; readonly path: string }
  | { readonly by: 'allowsWithout'; readonly request: string; readonly path: string }
  /** The route exists in the service and in the client's table. */
  | { readonly by: 'route'; readonly method: string; readonly path: string }
  /** The decline can be provoked, and has this message. */
  | { readonly by: 'decline'; readonly code: string; readonly message: string | undefined }
  /** A function of its own. */
  | { readonly by: 'scenario'; readonly name: string }
  | { readonly by: 'nothing'; readonly because: string };

export interface Statement {
  /** Number of the section in docs/service-interface.md, for example `4.3.1`. */
  readonly section: string;
  readonly kind: Kind;
  readonly text: string;
  readonly check: Check;
}

/** `[kind, text, scenario]`, or a check instead of the name of a scenario. */
export type Line = readonly [kind: Kind, text: string, check: string | Check];

export function lines(section: string, rows: readonly Line[]): readonly Statement[] {
  return rows.map(([kind, text, check]) => ({
    section,
    kind,
    text,
    check: typeof check === 'string' ? { by: 'scenario', name: check } : check,
  }));
}

/** What the contract leaves open. */
export function leftOpen(section: string, rows: readonly string[]): readonly Statement[] {
  return rows.map((what) => ({
    section,
    kind: 'open',
    text: `Left open: ${what}.`,
    check: { by: 'nothing', because: 'left open by the contract' },
  }));
}

/** `[path, type]`, with the expected value, and with another sample than the table's if needed. */
export type ResponseRow = readonly [
  path: string,
  type: JsonType,
  options?: { readonly in?: string; readonly equals?: unknown },
];

/** A table of fields of a resource or a response: each row is a field and its form. */
export function responseTable(
  section: string,
  what: string,
  sample: string,
  rows: readonly ResponseRow[],
): readonly Statement[] {
  return rows.flatMap(([path, type, { in: other = sample, equals } = {}]) => {
    const at = { by: 'response', sample: other, path } as const;
    const value = equals === undefined ? at : { ...at, equals };
    return [
      { section, kind: 'field', text: `${capitalized(what)} has \`${path}\`.`, check: value },
      {
        section,
        kind: 'type',
        text: `\`${path}\` of ${codeOrWords(what)} is ${nameOf(type)}.`,
        check: { ...at, is: type },
      },
    ] satisfies Statement[];
  });
}

export type Need = 'required' | 'optional' | 'conditional';

/** `[path, type, need]`, with a value to send where the type's own example does not fit. */
export type RequestRow = readonly [
  path: string,
  type: JsonType,
  need: Need,
  options?: { readonly value?: unknown; readonly shownAt?: string },
];

/** A table of fields of a request: each row is a field, its form, and whether it may be omitted. */
export function requestTable(
  section: string,
  what: string,
  request: string,
  rows: readonly RequestRow[],
): readonly Statement[] {
  return rows.flatMap(([path, type, need, options = {}]) => {
    const value = options.value ?? EXAMPLES[type];
    const { shownAt } = options;
    const base = { section } as const;
    const accepts = { by: 'accepts', request, path, value } as const;
    const statements: Statement[] = [
      {
        ...base,
        kind: 'field',
        text: `${capitalized(what)} accepts \`${path}\`${shownAt === undefined ? '' : ', and the response shows it'}.`,
        check: shownAt === undefined ? accepts : { ...accepts, shownAt },
      },
      {
        ...base,
        kind: 'type',
        text: `\`${path}\` of ${codeOrWords(what)} is ${nameOf(type)}; another form is rejected.`,
        check: { by: 'refuses', request, path, value: OTHER_FORMS[type] },
      },
    ];
    if (need === 'required') {
      statements.push({
        ...base,
        kind: 'need',
        text: `${capitalized(what)} without \`${path}\` is rejected with IR_01.`,
        check: { by: 'requires', request, path },
      });
    }
    if (need === 'optional') {
      statements.push({
        ...base,
        kind: 'need',
        text: `\`${path}\` may be omitted from ${codeOrWords(what)}.`,
        check: { by: 'allowsWithout', request, path },
      });
    }
    return statements;
  });
}

/** Each value of an enumeration that a request accepts. */
export function valueTable(
  section: string,
  field: { readonly request: string; readonly path: string; readonly shownAt?: string },
  rows: readonly unknown[],
): readonly Statement[] {
  return rows.map((value) => ({
    section,
    kind: 'value',
    text: `\`${field.path}\` may be \`${String(value)}\`.`,
    check: { by: 'accepts', ...field, value },
  }));
}

/** A sentence that advises people, which no test can check against a service. */
export function advice(because: string): Check {
  return { by: 'nothing', because };
}

const EXAMPLES: Readonly<Record<JsonType, unknown>> = {
  string: 'Example',
  integer: 1,
  number: 1,
  boolean: true,
  object: {},
  array: [],
  timestamp: '2030-01-01T00:00:00Z',
  'string|null': 'Example',
  'object|null': {},
  'timestamp|null': '2030-01-01T00:00:00Z',
  'any|null': 'Example',
};

/** A value of another form, which a typed field must not accept. */
const OTHER_FORMS: Readonly<Record<JsonType, unknown>> = {
  string: 17,
  integer: 1.5,
  number: 'one',
  boolean: 'perhaps',
  object: 'text',
  array: 'text',
  timestamp: 17,
  'string|null': 17,
  'object|null': 'text',
  'timestamp|null': 17,
  'any|null': 17,
};

/** A single word names an object of a body. */
function codeOrWords(what: string): string {
  return what.includes(' ') ? what : `\`${what}\``;
}

function capitalized(what: string): string {
  const text = codeOrWords(what);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function nameOf(type: JsonType): string {
  const [form = '', orNull] = type.split('|');
  const article = /^[aio]/.test(form) ? 'an' : 'a';
  const word =
    form === 'timestamp' ? 'an ISO 8601 time' : form === 'any' ? 'a value' : `${article} ${form}`;
  return orNull === undefined ? word : `${word} or null`;
}
