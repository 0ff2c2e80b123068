import type { ReactNode } from 'react';

export type BadgeKind = 'good' | 'warning' | 'bad' | 'neutral';

interface BadgeProps {
  readonly kind: BadgeKind;
  readonly children: ReactNode;
}

/** A state in a word. The colour repeats what the word says. */
export function Badge({ kind, children }: BadgeProps) {
  return <span className={`badge badge-${kind}`}>{children}</span>;
}
