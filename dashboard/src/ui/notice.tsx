import { type ReactNode, useEffect, useRef } from 'react';

interface NoticeProps {
  readonly kind: 'info' | 'good' | 'warning' | 'problem';
  /** Whether it appears after an action, and a screen reader reads it at once. */
  readonly isAnnounced?: boolean;
  /** Whether an announced message also takes the focus, because no field does. */
  readonly takesFocus?: boolean;
  readonly children: ReactNode;
}

const SIGNS = { info: 'i', good: '✓', warning: '!', problem: '!' } as const;

/** A message that stands out. */
export function Notice({ kind, isAnnounced = false, takesFocus = isAnnounced, children }: NoticeProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) box.current?.focus();
  }, [takesFocus]);
  return (
    <div
      ref={box}
      className={`notice notice-${kind}`}
      role={isAnnounced ? 'alert' : undefined}
      tabIndex={takesFocus ? -1 : undefined}
    >
      <span className="notice-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <div className="notice-text">{children}</div>
    </div>
  );
}
