/** Completion for fish. */
import type { CompletedOption, CompletionNode } from './model.ts';

export function fishCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.flatMap(({ path }) => (path === '' ? [] : [fishQuoted(path)]));
  return `# Completion of tallyhook for fish. \`tallyhook completion fish\` writes it.
function __tallyhook_at
  set -l place ''
  set -l typed (commandline -opc)
  set -e typed[1]
  for word in $typed
    switch "$place $word"
      case ${paths.join(' ')}
        set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
complete -c tallyhook -e
complete -c tallyhook -f
${nodes.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, children, options, argument }: CompletionNode): readonly string[] {
  const start = `complete -c tallyhook -n ${fishQuoted(`__tallyhook_at ${fishQuoted(path)}`)}`;
  return [
    ...children.map(({ name, description }) => `${start} -a ${name} -d ${fishQuoted(description)}`),
    ...(argument?.of === 'choices'
      ? [`${start} -a ${fishQuoted(argument.choices.join(' '))}`]
      : []),
    ...(argument?.of === 'files' ? [`${start} -F`] : []),
    ...options.map((option) => `${start} ${optionOf(option)}`),
  ];
}

function optionOf({ flag, description, value }: CompletedOption): string {
  const named = `-l ${flag.replace(/^--/, '')} -d ${fishQuoted(description)}`;
  switch (value?.of) {
    case undefined:
      return named;
    case 'choices':
      return `${named} -x -a ${fishQuoted(value.choices.join(' '))}`;
    case 'files':
      return `${named} -r -F`;
    case 'text':
      return `${named} -x`;
  }
}

/** In single quotes of fish, in which a backslash escapes a quote. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
