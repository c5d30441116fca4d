namespace fairgv::sched {}
