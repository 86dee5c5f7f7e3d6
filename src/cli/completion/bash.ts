/** Completion for bash, of version 3.2 or newer. */
import { type CompletionNode, optionsWith, quoted } from './model.ts';

export function bashCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]));
  return `# Completion of tallyhook for bash. \`tallyhook completion bash\` writes it.
_tallyhook() {
  local current previous word place='' candidates=''
  COMPREPLY=()
  current=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  # bash splits --option=value into three words.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
      ${paths.join('|')}) place="$place $word" ;;
    esac
  done
  case "$place $previous" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$place" in
${nodes.flatMap(wordCases).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
  case "$place" in
    ${fileArguments(nodes)}) [[ $current == -* ]] || _tallyhook_files ;;
  esac
}
_tallyhook_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _tallyhook tallyhook
`;
}

function valueCases(node: CompletionNode): readonly string[] {
  const at = ({ flag }: { readonly flag: string }) => quoted(`${node.path} ${flag}`);
  const choices = optionsWith(node, 'choices').map(
    (option) => `    ${at(option)}) candidates=${quoted(option.value.choices.join(' '))} ;;`,
  );
  const files = optionsWith(node, 'files').map(at);
  const texts = optionsWith(node, 'text').map(at);
  return [
    ...choices.map((line) => line.replace(/ ;;$/, `; ${REPLY}; return ;;`)),
    ...(files.length > 0 ? [`    ${files.join('|')}) _tallyhook_files; return ;;`] : []),
    ...(texts.length > 0 ? [`    ${texts.join('|')}) return ;;`] : []),
  ];
}

const REPLY = 'COMPREPLY=($(compgen -W "$candidates" -- "$current"))';

function wordCases({ path, children, options, argument }: CompletionNode): readonly string[] {
  const words = [
    ...children.map(({ name }) => name),
    ...(argument?.of === 'choices' ? argument.choices : []),
    ...options.map(({ flag }) => flag),
  ];
  return [`    ${quoted(path)}) candidates=${quoted(words.join(' '))} ;;`];
}

function fileArguments(nodes: readonly CompletionNode[]): string {
  return nodes
    .flatMap(({ path, argument }) => (argument?.of === 'files' ? [quoted(path)] : []))
    .join('|');
}
