/** Writes docs/figures.md from docs/figures.json. */
import { commandOf, findPart, PARTS } from './parts.ts';
import { type Machine, outcomeOf, type PartResult, type Report } from './report.ts';
import { SECTIONS, type Section } from './tables.ts';

const INTRODUCTION = `# Figures

What \`npm run prove\` measured, in its own tests and benches ([record 166](decisions/0166-figures.md)). \`npm run prove -- --seed N\` repeats all of it, which takes one to two hours on two cores, and writes this page and [figures.json](figures.json), which has every single value. \`--short\` takes minutes. The command of a line repeats that line alone; the others stay as they are. A seed repeats everything that was chosen at random. How processes and requests then meet differs from run to run.
`;

export function writePage(report: Report): string {
  const kinds = [...new Set(PARTS.map(({ kind }) => kind))];
  const sections = kinds.flatMap((kind) => {
    const own = report.results.filter((result) => findPart(result.part)?.kind === kind);
    return own.length === 0 ? [] : [writeSection(SECTIONS[kind], own)];
  });
  return [INTRODUCTION, writeVerdict(report), ...sections, writeMissing(report), writeRuns(report)]
    .filter((text) => text !== '')
    .join('\n');
}

/** States first what is wrong, if anything is. */
function writeVerdict({ results }: Report): string {
  const problems = results.flatMap(problemsOf);
  if (problems.length > 0) return `${problems.map((problem) => `- ${problem}`).join('\n')}\n`;
  return results.length === 0 ? 'Nothing was run yet.\n' : 'No guarantee was broken in any run.\n';
}

function problemsOf(result: PartResult): readonly string[] {
  const outcome = outcomeOf(result);
  switch (outcome.outcome) {
    case 'held':
      return [];
    case 'broken':
      return outcome.promises.map((promise) => `**Broken**, ${result.part}: ${promise}.`);
    case 'failed':
      return [`**Failed**, ${result.part}: the run ended early, so it shows nothing.`];
  }
}

function writeSection(section: Section, results: readonly PartResult[]): string {
  const rows = results.flatMap((result) => {
    const command = `\`${commandOf(result)}\``;
    const lines = section.linesOf(result.records);
    if (lines.length > 0) return lines.map((line) => [...line, command]);
    const [, ...others] = section.columns;
    return [[`${result.part}: no figure`, ...others.map(() => ''), command]];
  });
  const table = writeTable([...section.columns, 'command that repeats it'], rows);
  return `## ${section.title}\n\n${section.text}\n\n${table}`;
}

function writeMissing({ results }: Report): string {
  const missing = PARTS.filter(({ name }) => results.every(({ part }) => part !== name));
  if (missing.length === 0 || results.length === 0) return '';
  const names = missing.map(({ name }) => `\`${name}\``).join(', ');
  return `## Not run\n\nThese parts have no result yet: ${names}.\n`;
}

function writeRuns({ results }: Report): string {
  if (results.length === 0) return '';
  const newest = results.reduce((one, other) => (other.startedAt > one.startedAt ? other : one));
  const machines = [...new Set(results.map(({ machine }) => describe(machine)))];
  const letter = (machine: Machine) =>
    String.fromCharCode(65 + machines.indexOf(describe(machine)));
  const rows = results.map((result) => [
    `\`${result.part}\``,
    `${result.count.toLocaleString('en')} ${findPart(result.part)?.unit ?? ''}`,
    result.seed === null ? 'none' : String(result.seed),
    result.startedAt.slice(0, 16).replace('T', ' '),
    durationOf(result.seconds),
    commitOf(result, newest.commit),
    letter(result.machine),
  ]);
  const columns = ['part', 'count', 'seed', 'started, UTC', 'took', 'commit', 'machine'];
  const list = machines.map((text, index) => `- ${String.fromCharCode(65 + index)}: ${text}`);
  return `## Runs

The commit is the last one that changed the program. A part without a seed has the same load each time. In a run of several parts, those that measure speed run alone and the others three at a time, so their seconds are those of a busy machine.

${writeTable(columns, rows)}
Machines:

${list.join('\n')}
`;
}

function describe({ cpu, cores, memoryGib, system, node, postgres, redis }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}; Node.js ${node}, PostgreSQL ${postgres}, Redis ${redis}`;
}

function commitOf({ commit, isModified }: PartResult, newest: string): string {
  const notes = [
    ...(isModified ? ['with uncommitted changes'] : []),
    ...(commit === newest ? [] : ['another commit than the newest run']),
  ];
  const short = `\`${commit.slice(0, 8)}\``;
  return notes.length === 0 ? short : `${short}, ${notes.join(', ')}`;
}

function durationOf(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

function writeTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(columns) + line(columns.map(() => '---')) + rows.map(line).join('');
}
