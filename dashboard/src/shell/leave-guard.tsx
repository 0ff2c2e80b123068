import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useMessages } from '../i18n/locale.js';
import { AskBefore } from '../ui/ask-before.js';
import { UnsavedContext, UnsavedScope } from '../ui/unsaved.js';

/** Asks before a page is left whose forms hold what was not saved: by a link, the way back, or the end of the tab. */
export function LeaveGuard({ children }: { readonly children: ReactNode }) {
  const { common } = useMessages();
  const [scope] = useState(() => new UnsavedScope());
  const { status, proceed, reset } = useBlocker({
    // A filter changes the search of the address, and leaves the forms where they are.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && scope.holdsText(),
    enableBeforeUnload: () => scope.holdsText(),
    withResolver: true,
  });
  return (
    <>
      <UnsavedContext value={scope}>{children}</UnsavedContext>
      <AskBefore
        {...common.leaveUnsaved}
        isOpen={status === 'blocked'}
        onStay={() => reset?.()}
        onLeave={() => proceed?.()}
      />
    </>
  );
}
