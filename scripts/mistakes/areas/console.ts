/** Sessions, forms and rights of the console. */
import type { Mistake } from '../mistake.ts';

export const CONSOLE: readonly Mistake[] = [
  {
    guarantee: 'An operator moves no money.',
    file: 'src/access/domain/roles.ts',
    code: "    'operate',\n    'settle',",
    mistaken: "    'operate',\n    'move_money',\n    'settle',",
    test: 'test/unit/access/roles.test.ts',
  },
  {
    guarantee:
      'Whoever has several values of the claim gets the role of the first in the settings.',
    file: 'src/access/domain/claims.ts',
    code: 'return mappings.find(({ value }) => values.includes(value))?.role;',
    mistaken:
      'return values.flatMap((one) => mappings.find(({ value }) => value === one) ?? [])[0]?.role;',
    test: 'test/unit/access/claims.test.ts',
  },
];
