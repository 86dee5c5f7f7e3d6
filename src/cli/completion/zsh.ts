/** Completion for zsh. */
import { type CompletionNode, optionsWith, quoted } from './model.ts';

export function zshCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]));
  const files = nodes.flatMap(({ path, argument }) =>
    argument?.of === 'files' ? [quoted(path)] : [],
  );
  return `#compdef tallyhook
# Completion of tallyhook for zsh. \`tallyhook completion zsh\` writes it.
_tallyhook() {
  local place='' word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      (${paths.join('|')}) place="$place $word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$place" in
${nodes.map(wordCase).join('\n')}
  esac
  _describe 'tallyhook' candidates
  case "$place" in
    (${files.join('|')}) _files ;;
  esac
}
if [[ \${funcstack[1]} == _tallyhook ]]; then
  _tallyhook "$@"
else
  compdef _tallyhook tallyhook
fi
`;
}

function valueCases(node: CompletionNode): readonly string[] {
  const at = ({ flag }: { readonly flag: string }) => quoted(`${node.path} ${flag}`);
  const choices = optionsWith(node, 'choices').map((option) => {
    const words = option.value.choices.map(quoted).join(' ');
    return `    (${at(option)}) candidates=(${words}); compadd -a candidates; return ;;`;
  });
  const files = optionsWith(node, 'files').map(at);
  const texts = optionsWith(node, 'text').map(at);
  return [
    ...choices,
    ...(files.length > 0 ? [`    (${files.join('|')}) _files; return ;;`] : []),
    ...(texts.length > 0 ? [`    (${texts.join('|')}) return ;;`] : []),
  ];
}

function wordCase({ path, children, options, argument }: CompletionNode): string {
  const words = [
    ...children.map(({ name, description }) => described(name, description)),
    ...(argument?.of === 'choices' ? argument.choices.map(quoted) : []),
    ...options.map(({ flag, description }) => described(flag, description)),
  ];
  return `    (${quoted(path)}) candidates=(${words.join(' ')}) ;;`;
}

function described(name: string, description: string): string {
  return quoted(`${name}:${description}`);
}
