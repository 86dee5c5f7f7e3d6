/** What can follow in a command line, read from the tree of commands. Pure. */
import type { Argument, Command, Option } from 'commander';

/** What the value of an option or argument can be. */
export type CompletedValue =
  | { readonly of: 'choices'; readonly choices: readonly string[] }
  | { readonly of: 'files' }
  /** Nothing that can be known. */
  | { readonly of: 'text' };

export interface CompletedOption {
  /** Its long name, with dashes. */
  readonly flag: string;
  readonly description: string;
  /** Undefined for an option without a value. */
  readonly value: CompletedValue | undefined;
}

/** A command, or a group of commands. */
export interface CompletionNode {
  /** Its names after the program's, each after a space: empty for the program itself. */
  readonly path: string;
  readonly children: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Of its first argument. */
  readonly argument: CompletedValue | undefined;
}

const HELP: CompletedOption = {
  flag: '--help',
  description: 'display help for command',
  value: undefined,
};

/** The program and every command below it. @param commands those of the first level, loaded */
export function completionNodes(commands: readonly Command[]): readonly CompletionNode[] {
  const program: CompletionNode = {
    path: '',
    children: commands.map(nameOf),
    options: [HELP, { ...HELP, flag: '--version', description: 'output the version number' }],
    argument: undefined,
  };
  return [program, ...commands.flatMap((command) => nodesOf(command, ''))];
}

function nodesOf(command: Command, parent: string): readonly CompletionNode[] {
  const path = `${parent} ${command.name()}`;
  const [first] = command.registeredArguments;
  const node: CompletionNode = {
    path,
    children: command.commands.map(nameOf),
    options: [...command.options.flatMap(optionOf), HELP],
    argument: first && valueNamed(first.argChoices, first.name()),
  };
  return [node, ...command.commands.flatMap((child) => nodesOf(child, path))];
}

function nameOf(command: Command) {
  return { name: command.name(), description: command.description() };
}

function optionOf(option: Option): readonly CompletedOption[] {
  if (option.long === undefined || option.long === null || option.hidden) return [];
  const { long: flag, description, argChoices, flags } = option;
  const takesValue = option.required || option.optional;
  const value = takesValue ? valueNamed(argChoices, /<([^>]+)>/.exec(flags)?.[1]) : undefined;
  return [{ flag, description, value }];
}

function valueNamed(choices: Argument['argChoices'], name: string | undefined): CompletedValue {
  if (choices !== undefined) return { of: 'choices', choices };
  return name === 'file' || name === 'folder' ? { of: 'files' } : { of: 'text' };
}

/** The options of a node that take a value of one sort. */
export function optionsWith<Of extends CompletedValue['of']>(
  { options }: CompletionNode,
  of: Of,
): readonly { readonly flag: string; readonly value: Extract<CompletedValue, { of: Of }> }[] {
  return options.flatMap(({ flag, value }) =>
    value?.of === of ? [{ flag, value: value as Extract<CompletedValue, { of: Of }> }] : [],
  );
}

/** A text in single quotes, for each of the shells that read it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
