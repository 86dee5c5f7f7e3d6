/** The mutants of scripts/mutate.sh. */
import { transformSync } from 'rolldown/utils';
import { describe, expect, test } from 'vitest';
import { instrument } from '../../../scripts/mutation/instrument.ts';

/** The mutants of a source, as `code -> becomes`. */
function mutantsOf(source: string): readonly string[] {
  const { mutants } = instrument({ file: 'rule.ts', source }, true);
  return mutants.map(({ code, becomes }) => `${code} -> ${becomes}`);
}

/** What the function `rule` of a source returns with one mutant, or none. */
function resultOf(source: string, active?: number): unknown {
  const { code } = transformSync('rule.ts', instrument({ file: 'rule.ts', source }, true).source);
  const mutation = {
    is: (id: number) => id === active,
    count: () => undefined,
    constant: (_: unknown, compute: () => unknown) => compute(),
  };
  try {
    return new Function('globalThis', `${code}; return rule();`)({ mutation });
  } catch (error) {
    return String(error);
  }
}

const RULE = `
const LIMITS: readonly number[] = [1, 2] as const;
function rule(): string {
  let sum = 0;
  for (const limit of LIMITS) {
    if (limit === 2 && sum >= 1) continue;
    sum += (limit - 1) * 2 + (LIMITS.find((one) => one > limit) ?? 10);
  }
  let name = 'none';
  if (sum > 5) name = 'many';
  else if (sum > 1) name = 'two';
  switch (sum) {
    case 2: return name;
    default: return \`\${sum}\`;
  }
}`;

test('without a mutant, a rule computes what it did', () => {
  expect(resultOf(RULE)).toBe('two');
});

/** What is no expression, in the text of a mutant and in a source. */
const STATEMENTS: Readonly<Record<string, string>> = {
  '': ';',
  never: 'case NaN',
  'default: break;': 'default: break;',
};

test('a mutant that is switched on does what its text does in the source', () => {
  const { mutants } = instrument({ file: 'rule.ts', source: RULE }, true);
  const unique = mutants.filter(({ code }) => RULE.split(code).length === 2);
  expect(unique.length).toBeGreaterThan(20);
  for (const { id, code, becomes } of unique) {
    const changed = RULE.replace(code, () => STATEMENTS[becomes] ?? `(${becomes})`);
    expect([code, becomes, resultOf(RULE, id)]).toEqual([code, becomes, resultOf(changed)]);
  }
});

describe('what another mutant implies is left out', () => {
  test.each([
    ['const f = (a, b) => a === b;', ['a === b -> true', 'a === b -> false']],
    ['const f = (a, b) => a < b;', ['a < b -> true', 'a < b -> false', 'a < b -> a <= b']],
    ['const f = (a) => !a;', ['!a -> true', '!a -> false']],
    ['const f = (a) => a ?? "";', ['a ?? "" -> ""']],
    ['throw new Error("a text for programmers");', []],
    ['const f = (a?: "type") => a?.b;', ['a?.b -> a.b']],
  ])('%s', (source, expected) => {
    expect(mutantsOf(source)).toEqual(expected);
  });
});
