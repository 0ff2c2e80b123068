import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useSessionStore } from '../app-context.js';
import { UnsavedContext, UnsavedScope } from '../ui/unsaved.js';
import { AskToLeave } from './ask-to-leave.js';

/** Asks before a page is left that holds what would be lost: by a link, the way back, or the end of the tab. */
export function LeaveGuard({ children }: { readonly children: ReactNode }) {
  const [scope] = useState(() => new UnsavedScope());
  const session = useSessionStore();
  useEffect(() => session.keepWhile(() => scope.held() !== null), [session, scope]);
  const { status, proceed, reset } = useBlocker({
    // A filter changes the search of the address, and leaves the forms where they are.
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && ![null, 'kept-in-tab'].includes(scope.held()),
    enableBeforeUnload: () => scope.held() !== null,
    withResolver: true,
  });
  return (
    <UnsavedContext value={scope}>
      {children}
      <AskToLeave isOpen={status === 'blocked'} onStay={() => reset?.()} onLeave={() => proceed?.()} />
    </UnsavedContext>
  );
}
