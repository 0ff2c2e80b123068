import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { useSession } from '../app-context.js';
import { SignIn } from '../pages/auth/sign-in.js';
import { Skeleton } from '../ui/skeleton.js';

const SignedIn = lazyRouteComponent(() => import('./signed-in.js'), 'SignedIn');

/** The pages for users. Without a sign-in it asks for one, and then shows the page of the address. */
export function Panel() {
  const { status } = useSession();
  useEffect(() => {
    // While the service is asked about the sign-in that the browser seems to have.
    if (status === 'starting') void SignedIn.preload?.();
  }, [status]);
  if (status === 'starting') return <Skeleton lines={6} />;
  if (status === 'signed-out') return <SignIn />;
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <SignedIn />
    </Suspense>
  );
}
