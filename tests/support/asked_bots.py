"""Asking a bot of ours as a run would: got ready, asked all at once, closed."""

import asyncio
from collections.abc import Sequence

from proctor.bots.bot import Reply
from proctor.bots.target_bots import BuiltBot


def ask(bot: BuiltBot, *questions: str) -> Sequence[Reply]:
    async def all_of_them() -> Sequence[Reply]:
        await bot.prepare()
        try:
            return await asyncio.gather(*[bot.reply(question) for question in questions])
        finally:
            await bot.close()

    return asyncio.run(all_of_them())
