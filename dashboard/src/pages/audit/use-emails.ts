import { useQuery } from '@tanstack/react-query';
import { allPages, answerOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

/** Finds the e-mail address of a user of the organisation by id. The log identifies users by id alone. */
export function useEmails(): (userId: string) => string | undefined {
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['emails'],
    queryFn: async () => {
      const users = await allPages((cursor) =>
        answerOf(api.GET('/api/v1/users', { params: { query: { limit: 100, cursor } } })),
      );
      return new Map(users.map(({ id, email }) => [id, email]));
    },
  });
  return (userId) => data?.get(userId);
}
