/** What the mutator needs of a syntax tree: nodes with their children, without types. */
import { parseSync } from 'rolldown/utils';

/** A node of ESTree, as a program reads it that handles many kinds of nodes. */
export interface Node {
  readonly type: string;
  /** Offsets in the source, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export function parse(file: string, source: string): Node {
  const { program, errors } = parseSync(file, source, { preserveParens: false });
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  return program as unknown as Node;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The node in a field. Throws where the grammar has none. */
export function child(node: Node, field: string): Node {
  const value = node[field];
  if (!isNode(value)) throw new TypeError(`${node.type} without ${field}`);
  return value;
}

export function children(node: Node, field: string): readonly Node[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Nodes that exist at run time, with the field that they are in. `value as Type` has a value and a type. */
export function parts(node: Node): readonly (readonly [field: string, part: Node])[] {
  const found: (readonly [string, Node])[] = [];
  for (const [field, value] of Object.entries(node)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (isNode(part) && !isType(part)) found.push([field, part]);
    }
  }
  return found;
}

const VALUES_WITH_TYPES = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSParameterProperty',
]);

function isType({ type }: Node): boolean {
  return type.startsWith('TS') && !VALUES_WITH_TYPES.has(type);
}
