import type { ReactNode } from 'react';

interface ScrollBoxProps {
  /** Name of the content, for screen readers. */
  readonly label: string;
  readonly language?: string;
  readonly look?: 'text' | 'stack' | 'difference';
  readonly children: ReactNode;
}

const LOOKS = { text: 'boxed-text plain-text', stack: 'boxed-text stack', difference: 'difference' } as const;

/** A box whose content scrolls if it is long, with the keyboard as well. */
export function ScrollBox({ label, language, look = 'text', children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
    <section className={LOOKS[look]} aria-label={label} lang={language} dir="auto" tabIndex={0}>
      {children}
    </section>
  );
}
