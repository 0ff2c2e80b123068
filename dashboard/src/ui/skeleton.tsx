import { useMessages } from '../i18n/locale.js';

/** Stands in place of what loads, in about its size, so that the page does not move when it arrives. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  const { common } = useMessages();
  return (
    <div className="skeleton" role="status" aria-busy="true">
      <span className="for-readers">{common.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike
        <span key={line} className="skeleton-line" />
      ))}
    </div>
  );
}
