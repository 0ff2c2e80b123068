/** A line of two texts that are compared. */
export interface ComparedLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** If texts are longer, only the part that differs is compared. */
const MOST_CELLS = 4_000_000;

/**
 * Compares two texts line by line by their longest common subsequence. Equal lines at both ends are
 * set aside first, so that a small change in a long text is cheap.
 * @returns the lines of both, in order
 */
export function lineDifference(before: string, after: string): readonly ComparedLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]) => lines.map((text) => ({ kind: 'same', text }) as const);
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

/** Equal lines that are shown before and after a change. */
const CONTEXT = 2;

/** Returns the lines of a difference that changed, with the equal ones next to them; an ellipsis stands for the rest. */
export function changedLines(lines: readonly ComparedLine[]): readonly ComparedLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== 'same'),
  );
  return lines.flatMap((line, index) => {
    if (isNear[index] === true) return [line];
    return index === 0 || isNear[index - 1] === true ? [{ kind: 'same', text: '…' }] : [];
  });
}

function middle(a: readonly string[], b: readonly string[]): readonly ComparedLine[] {
  const removed = (text: string) => ({ kind: 'removed', text }) as const;
  const added = (text: string) => ({ kind: 'added', text }) as const;
  if (a.length * b.length > MOST_CELLS) return [...a.map(removed), ...b.map(added)];
  const lengths = commonLengths(a, b);
  const lines: ComparedLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const [left, right] = [a[i] ?? '', b[j] ?? ''];
    if (left === right) {
      lines.push({ kind: 'same', text: left });
      i += 1;
      j += 1;
    } else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)) {
      lines.push(removed(left));
      i += 1;
    } else {
      lines.push(added(right));
      j += 1;
    }
  }
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

/** Length of the longest common subsequence of the rests from each pair of lines. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const [row, next] = [lengths[i], lengths[i + 1]];
    if (row === undefined || next === undefined) continue;
    for (let j = b.length - 1; j >= 0; j -= 1) {
      row[j] = a[i] === b[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}
