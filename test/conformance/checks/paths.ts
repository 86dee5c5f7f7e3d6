/** Values at a path such as `billing.address.zip` or `order_details.0.name`. */

type Node = Record<string, unknown>;

const step = (node: unknown, name: string): unknown =>
  typeof node === 'object' && node !== null ? (node as Node)[name] : undefined;

export function valueAt(body: unknown, path: string): unknown {
  return path.split('.').reduce(step, body);
}

/** A copy with another value at the path; missing objects on the way are created. */
export function withValue<T>(body: T, path: string, value: unknown): T {
  return change(body, path.split('.'), (parent, name) => {
    parent[name] = value;
  });
}

/** A copy without the value at the path. */
export function withoutValue<T>(body: T, path: string): T {
  return change(body, path.split('.'), (parent, name) => {
    delete parent[name];
  });
}

function change<T>(
  body: T,
  names: readonly string[],
  act: (parent: Node, name: string) => void,
): T {
  const copy = structuredClone(body);
  let parent = copy as unknown as Node;
  for (const name of names.slice(0, -1)) {
    parent[name] ??= {};
    parent = parent[name] as Node;
  }
  act(parent, names.at(-1) ?? '');
  return copy;
}
