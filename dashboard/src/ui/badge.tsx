import type { ReactNode } from 'react';

interface BadgeProps {
  readonly kind: 'good' | 'warning' | 'bad' | 'neutral';
  readonly children: ReactNode;
}

/** A state in a word. The colour repeats what the word says. */
export function Badge({ kind, children }: BadgeProps) {
  return <span className={`badge badge-${kind}`}>{children}</span>;
}
