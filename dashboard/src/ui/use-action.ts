import { useMutation } from '@tanstack/react-query';

/**
 * A change, after which every list is read again. Its failures are thrown to the form or button that
 * started it.
 */
export function useAction<Input, Output>(change: (input: Input) => Promise<Output>): (input: Input) => Promise<Output> {
  return useMutation({ mutationFn: change }).mutateAsync;
}
