import { useEffect, useRef } from 'react';
import { useFormats, useMessages } from '../i18n/locale.js';

interface ShownProps {
  /** Number of the items that the list shows, or undefined while it loads. */
  readonly count: number | undefined;
  readonly isMore: boolean;
  /** The filters. When the user changes them, the line takes the focus, because what was pressed may be gone. */
  readonly filters: string;
}

/** Says how many items a list shows, also to screen readers when the filters or the number change. */
export function Shown({ count, isMore, filters }: ShownProps) {
  const { common } = useMessages();
  const { number } = useFormats();
  const line = useRef<HTMLParagraphElement>(null);
  const last = useRef(filters);
  useEffect(() => {
    if (last.current !== filters) line.current?.focus();
    last.current = filters;
  }, [filters]);
  return (
    <p ref={line} role="status" tabIndex={-1} className="hint">
      {count === undefined ? '' : common.shown(number(count), isMore)}
    </p>
  );
}
