/** Finds the selectors in a Prometheus expression. It does not parse: promtool checks the syntax. */

export interface Selector {
  readonly metric: string;
  /** Each is a label, an operator and a value. */
  readonly matchers: readonly (readonly [string, string, string])[];
}

/** Selectors of Tallyhook's metrics and of those that every Node.js process has. */
export function selectorsOf(expression: string): readonly Selector[] {
  const named = expression.matchAll(/\b((?:tallyhook|process|nodejs)_\w+)(?:\{([^}]*)\})?/g);
  return [...named].map(([, metric = '', inside = '']) => ({
    metric,
    matchers: [...inside.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = '', operator = '', value = '']) => [label, operator, value] as const,
    ),
  }));
}

/** Whether a selector matches a series. A missing label counts as empty. */
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
