/** What an expression of Prometheus names. Not a parser: promtool is one, and checks the syntax. */

export interface Selector {
  readonly metric: string;
  /** Label, operator, value. */
  readonly matchers: readonly (readonly [string, string, string])[];
}

/** Selectors of our metrics and of those of every Node.js process. */
export function selectorsOf(expression: string): readonly Selector[] {
  const named = expression.matchAll(/\b((?:tallyhook|process|nodejs)_\w+)(?:\{([^}]*)\})?/g);
  return [...named].map(([, metric = '', inside = '']) => ({
    metric,
    matchers: [...inside.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = '', operator = '', value = '']) => [label, operator, value] as const,
    ),
  }));
}

/** Whether a series has what a selector asks for. A label that it lacks counts as empty. */
export function matches(
  { metric, matchers }: Selector,
  series: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): boolean {
  if (series.name !== metric) return false;
  return matchers.every(([label, operator, value]) => {
    const actual = series.labels[label] ?? '';
    const isEqual =
      operator === '=~' || operator === '!~'
        ? new RegExp(`^(?:${value})$`).test(actual)
        : actual === value;
    return operator.startsWith('!') ? !isEqual : isEqual;
  });
}
