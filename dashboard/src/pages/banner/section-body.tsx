import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

interface SectionBodyProps {
  readonly section: string;
  readonly label: string;
  readonly children: ReactNode;
}

/**
 * What a section shows. It takes the focus when the user goes to another section, so that a screen reader names it; if
 * the address names a field, the field takes it.
 */
export function SectionBody({ section, label, children }: SectionBodyProps) {
  const { hash } = useLocation();
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef(section);
  useEffect(() => {
    const isOther = shown.current !== section;
    shown.current = section;
    // After the heading of the page, which takes the focus when the page appears.
    const frame = requestAnimationFrame(() => {
      const named = hash === '' ? undefined : (document.getElementById(hash) ?? document.getElementsByName(hash)[0]);
      if (named !== undefined && box.current?.contains(named)) {
        named.focus();
        named.scrollIntoView({ block: 'center' });
      } else if (isOther) box.current?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [section, hash]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of one form
    <div ref={box} role="group" aria-label={label} tabIndex={-1} className="section-body">
      {children}
    </div>
  );
}
