-- Messages to people among those to the shop, which are nearly all (00080).

create index messages_to_people on messages (number) where kind <> 'order' and number > 0;
