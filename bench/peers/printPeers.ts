/** Prints a comparison. */
import { isDisturbed } from '../cpu.ts';
import { line, printCpu, printOddities, printWarnings, title } from '../report.ts';
import type { PeersReport, SideReport } from './runPeers.ts';
import { linesOf } from './table.ts';

export function printPeers({ peers, rounds, seconds, table }: PeersReport): void {
  title(`Peers: ${rounds.length} rounds of ${seconds} s each; median (lowest-highest)`);
  for (const text of linesOf(table)) console.log(`  ${text}`);
  for (const { name, version, besides } of peers) {
    line('installed', [`${name}@${version}`, ...besides].join(', '));
  }
  for (const [n, { sides }] of rounds.entries()) printRound(n + 1, sides);
  const disturbed = rounds.filter(({ sides }) => sides.some(({ cpu }) => isDisturbed(cpu)));
  if (disturbed.length > 0) {
    const count = `${disturbed.length} of ${rounds.length} rounds`;
    line('NOTE', `other programs used the machine in ${count}; run it again without them`);
  }
  const all = rounds.flatMap(({ sides }) => sides);
  for (const name of new Set(all.map((side) => side.name))) {
    printSides(all.filter((side) => side.name === name));
  }
}

function printRound(number: number, sides: readonly SideReport[]): void {
  const rates = sides.map(
    ({ name, acceptedPerSecond }) =>
      `${name} ${Math.round(acceptedPerSecond).toLocaleString('en')}/s`,
  );
  const others = Math.max(...sides.map(({ cpu }) => cpu.others ?? 0));
  line(`round ${number}`, `${rates.join(', ')}; other programs ${others.toFixed(2)} cores`);
  for (const side of sides) printOddities(side);
}

/** @param sides of one name, in the order of the rounds */
function printSides(sides: readonly SideReport[]): void {
  const last = sides.at(-1);
  if (!last) return;
  title(`${last.name}, last round`);
  printCpu(last.cpu);
  if (last.kept) {
    const rows = Object.entries(last.kept.rows).map(([name, count]) => `${name} ${count}`);
    const lost = sides.filter(({ kept }) => kept?.isComplete === false).length;
    line('kept', `acknowledged ${last.kept.acknowledged}, ${rows.join(', ')}`);
    line(
      'nothing lost',
      lost === 0 ? 'yes, in every round' : `NO, in ${lost} of ${sides.length} rounds`,
    );
  }
  printWarnings(last.warnings);
}
